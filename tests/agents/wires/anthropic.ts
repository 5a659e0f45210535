import { join } from 'node:path';
import type { Turn } from '../trajectory.ts';
import { listOf, textOf, type Json, type Said, type Wire, type WireContext, type WireEvent } from './wire.ts';

/** Anthropic's messages, as Claude Code asks for them. */
export const anthropic: Wire = {
  fits: (path) => path.endsWith('/v1/messages'),
  read(body) {
    const tools = listOf(body['tools']).map((tool) => String(tool['name']));
    return { main: tools.length > 0, said: listOf(body['messages']).flatMap(toSaid), tools };
  },
  answer: (turn, context) => toMessage(toBlock(turn, context), context),
  refuse: (until) => ({
    headers: {
      'anthropic-ratelimit-unified-status': 'rejected',
      'anthropic-ratelimit-unified-representative-claim': 'five_hour',
      'anthropic-ratelimit-unified-reset': String(until),
    },
    body: { type: 'error', error: { type: 'rate_limit_error', message: 'This is the limit.' } },
  }),
};

function toSaid({ role, content }: Json): readonly Said[] {
  // What a user says while it works comes as a word of the system.
  if (role !== 'user' && role !== 'system') return [];
  if (typeof content === 'string') return [{ user: content }];
  return listOf(content).map((block) =>
    block['type'] === 'tool_result' ? { result: textOf(block['content']) } : { user: textOf([block]) },
  );
}

type Block =
  | { readonly type: 'text'; readonly text: string; readonly open?: boolean }
  | { readonly type: 'tool_use'; readonly name: string; readonly input: Json };

function toBlock(turn: Turn, { folder }: WireContext): Block {
  if ('write' in turn) {
    const input = { file_path: join(folder, turn.write), content: turn.text };
    return { type: 'tool_use', name: 'Write', input };
  }
  if ('run' in turn)
    return {
      type: 'tool_use',
      name: 'Bash',
      input: { command: turn.run, description: 'As the script says' },
    };
  if ('answer' in turn) return { type: 'tool_use', name: 'StructuredOutput', input: { ...turn.answer } };
  if ('hang' in turn) return { type: 'text', text: turn.hang, open: true };
  return { type: 'text', text: 'say' in turn ? turn.say : '' };
}

function toMessage(block: Block, { at }: WireContext): readonly WireEvent[] {
  const message = {
    id: `msg_${at}`,
    type: 'message',
    role: 'assistant',
    model: 'scripted',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: {
      input_tokens: 100,
      output_tokens: 1,
      cache_read_input_tokens: 40,
      cache_creation_input_tokens: 0,
    },
  };
  const begin = [
    toEvent({ type: 'message_start', message }),
    toEvent({ type: 'content_block_start', index: 0, content_block: toEmpty(block, at) }),
    toEvent({ type: 'content_block_delta', index: 0, delta: toDelta(block) }),
  ];
  if (block.type === 'text' && block.open === true) return begin;
  const stop_reason = block.type === 'tool_use' ? 'tool_use' : 'end_turn';
  return [
    ...begin,
    toEvent({ type: 'content_block_stop', index: 0 }),
    toEvent({
      type: 'message_delta',
      delta: { stop_reason, stop_sequence: null },
      usage: { output_tokens: 10 },
    }),
    toEvent({ type: 'message_stop' }),
  ];
}

function toEmpty(block: Block, at: number): Json {
  if (block.type === 'text') return { type: 'text', text: '' };
  return { type: 'tool_use', id: `toolu_${at}`, name: block.name, input: {} };
}

function toDelta(block: Block): Json {
  if (block.type === 'text') return { type: 'text_delta', text: block.text };
  return { type: 'input_json_delta', partial_json: JSON.stringify(block.input) };
}

function toEvent(data: Json): WireEvent {
  return { event: String(data['type']), data };
}
