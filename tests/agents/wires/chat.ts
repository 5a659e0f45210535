import { join } from 'node:path';
import type { Turn } from '../trajectory.ts';
import { listOf, textOf, type Json, type Said, type Wire, type WireContext, type WireEvent } from './wire.ts';

/** OpenAI's chat completions, as opencode asks for them. */
export const chat: Wire = {
  fits: (path) => path.endsWith('/v1/chat/completions'),
  read(body) {
    const tools = listOf(body['tools']).map((tool) =>
      String((tool['function'] as Json | undefined)?.['name']),
    );
    return { main: tools.length > 0, said: listOf(body['messages']).flatMap(toSaid), tools };
  },
  answer(turn, context) {
    const chunk = (delta: Json, finish_reason: string | null = null): WireEvent =>
      toChunk(context, { choices: [{ index: 0, delta, finish_reason }] });
    if ('hang' in turn) return [chunk({ role: 'assistant', content: turn.hang })];
    const call = toCall(turn, context);
    const said = call === undefined ? { content: toWords(turn) } : { tool_calls: [call] };
    return [
      chunk({ role: 'assistant', ...said }),
      chunk({}, call === undefined ? 'stop' : 'tool_calls'),
      toChunk(context, { choices: [], usage: USAGE }),
      { data: '[DONE]' },
    ];
  },
  refuse: () => ({
    headers: {},
    body: {
      error: { message: 'This is the limit.', type: 'rate_limit_error', code: 'rate_limit_exceeded' },
    },
  }),
};

const USAGE = {
  prompt_tokens: 100,
  completion_tokens: 10,
  total_tokens: 110,
  prompt_tokens_details: { cached_tokens: 40 },
};

function toSaid({ role, content }: Json): readonly Said[] {
  if (role === 'user') return [{ user: textOf(content) }];
  return role === 'tool' ? [{ result: textOf(content) }] : [];
}

function toChunk({ at }: WireContext, rest: Json): WireEvent {
  const data = {
    id: `chatcmpl-${at}`,
    object: 'chat.completion.chunk',
    created: 0,
    model: 'scripted',
    ...rest,
  };
  return { data };
}

function toCall(turn: Turn, { folder, at }: WireContext): Json | undefined {
  const call = (name: string, args: Json): Json => ({
    index: 0,
    id: `call_${at}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  });
  if ('write' in turn) return call('write', { filePath: join(folder, turn.write), content: turn.text });
  if ('run' in turn) return call('bash', { command: turn.run, description: 'As the script says' });
  return undefined;
}

function toWords(turn: Turn): string {
  if ('answer' in turn) return `\`\`\`json\n${JSON.stringify(turn.answer)}\n\`\`\``;
  return 'say' in turn ? turn.say : '';
}
