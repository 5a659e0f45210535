import type { Turn } from '../trajectory.ts';
import { listOf, textOf, type Json, type Said, type Wire, type WireContext, type WireEvent } from './wire.ts';

/** OpenAI's responses, as Codex asks for them. */
export const responses: Wire = {
  fits: (path) => path.endsWith('/v1/responses'),
  read(body) {
    const tools = listOf(body['tools']).map((tool) => String(tool['name'] ?? tool['type']));
    return { main: tools.length > 0, said: listOf(body['input']).flatMap(toSaid), tools };
  },
  answer(turn, context) {
    const id = `resp_${context.at}`;
    const created = toEvent({ type: 'response.created', response: { id } });
    if ('hang' in turn) {
      const item = toMessage('', context);
      return [
        created,
        toEvent({ type: 'response.output_item.added', output_index: 0, item }),
        toEvent({
          type: 'response.output_text.delta',
          item_id: item['id'],
          output_index: 0,
          content_index: 0,
          delta: turn.hang,
        }),
      ];
    }
    const item = toItem(turn, context);
    return [
      created,
      toEvent({ type: 'response.output_item.added', output_index: 0, item }),
      toEvent({ type: 'response.output_item.done', output_index: 0, item }),
      toEvent({ type: 'response.completed', response: { id, usage: USAGE } }),
    ];
  },
  refuse: (until) => ({
    headers: {
      'x-codex-primary-used-percent': '100',
      'x-codex-primary-window-minutes': '300',
      'x-codex-primary-reset-at': String(until),
    },
    body: {
      error: {
        type: 'usage_limit_reached',
        message: 'This is the limit.',
        plan_type: 'pro',
        resets_at: until,
      },
    },
  }),
};

const USAGE = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 40 },
  output_tokens: 10,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 110,
};

function toSaid(item: Json): readonly Said[] {
  switch (item['type']) {
    case 'message':
      return item['role'] === 'user' ? [{ user: textOf(item['content']) }] : [];
    case 'function_call_output':
    case 'custom_tool_call_output':
      return [{ result: textOf(item['output']) }];
    default:
      return [];
  }
}

function toItem(turn: Turn, context: WireContext): Json {
  const call = { id: `fc_${context.at}`, call_id: `call_${context.at}` };
  if ('write' in turn) {
    const lines = turn.text.replace(/\n$/, '').split('\n');
    const input = [
      '*** Begin Patch',
      `*** Add File: ${turn.write}`,
      ...lines.map((line) => `+${line}`),
      '*** End Patch',
    ].join('\n');
    return { ...call, type: 'custom_tool_call', name: 'apply_patch', input };
  }
  if ('run' in turn) {
    const args = { cmd: turn.run, yield_time_ms: 30_000 };
    return { ...call, type: 'function_call', name: 'exec_command', arguments: JSON.stringify(args) };
  }
  if ('answer' in turn) return toMessage(JSON.stringify(turn.answer), context);
  return toMessage('say' in turn ? turn.say : '', context);
}

function toMessage(text: string, { at }: WireContext): Json {
  const content = text === '' ? [] : [{ type: 'output_text', text, annotations: [] }];
  return { type: 'message', id: `item_${at}`, role: 'assistant', content };
}

function toEvent(data: Json): WireEvent {
  return { event: String(data['type']), data };
}
