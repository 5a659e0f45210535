import { expect, it } from 'vitest';
import type { LogLine, TranscriptEntry } from '#contract/transcript.ts';
import { NO_USAGE } from '#domain/count-usage.ts';
import { PRICES_AS_OF } from '#domain/price-table.ts';
import { logText, stateOf } from './run-text.ts';

const USAGE = { ...NO_USAGE, input_tokens: 10, cost_usd: 0.5, cost_source: 'reported' } as const;

it.each<[TranscriptEntry, string]>([
  [{ kind: 'message', role: 'agent', text: 'Two\nlines' }, String.raw`agent: Two\nlines`],
  [{ kind: 'message', role: 'user', text: 'Go on' }, 'user: Go on'],
  [{ kind: 'thought', text: 'Hm' }, 'thought: Hm'],
  [{ kind: 'tool_call', id: '1', tool: 'Bash', input: { command: 'ls' } }, 'Bash {"command":"ls"}'],
  [{ kind: 'tool_call', id: '1', tool: 'Bash', input: undefined }, 'Bash '],
  [{ kind: 'tool_result', id: '1', is_error: false, text: 'a' }, 'result: a'],
  [{ kind: 'tool_result', id: '1', is_error: true, text: 'b' }, 'error: b'],
  [{ kind: 'approval', id: '1', tool: 'Edit', decision: 'expired' }, 'leave for Edit: expired'],
  [{ kind: 'usage', usage: USAGE }, 'usage: 10 tokens in, ? out, 0.5000 USD'],
  [{ kind: 'usage', usage: { ...USAGE, cost_usd: null } }, 'usage: 10 tokens in, ? out, cost unknown'],
  [
    { kind: 'usage', usage: { ...USAGE, cost_source: 'estimated' } },
    `usage: 10 tokens in, ? out, about 0.5000 USD (estimated by list prices of ${PRICES_AS_OF})`,
  ],
  [{ kind: 'error', code: 'auth', text: 'no' }, 'error auth: no'],
  [{ kind: 'output', stream: 'stdout', text: '\u001b[2Jx\u202e' }, String.raw`\u001b[2Jx\u202e`],
  [{ kind: 'output', stream: 'stderr', text: 'x' }, 'stderr: x'],
  [{ kind: 'note', text: 'started' }, '-- started'],
])('one line, escaped: %j', (entry, expected) => {
  const line: LogLine = { v: 1, seq: 1, at: '2026-02-10T12:34:56.789Z', ...entry };
  expect(logText(line)).toBe(`12:34:56  ${expected}`);
});

it('what a program wrote has its own lines', () => {
  const line: LogLine = {
    v: 1,
    seq: 1,
    at: '2026-02-10T12:34:56.789Z',
    kind: 'output',
    stream: 'stderr',
    text: 'a\n\u001bb',
  };
  expect(logText(line).split('\n')).toEqual(['12:34:56  stderr: a', String.raw`12:34:56  stderr: \u001bb`]);
});

it('the outcome is told where it says more than the state', () => {
  expect(stateOf({ state: 'running', outcome: null })).toBe('running');
  expect(stateOf({ state: 'completed', outcome: 'completed' })).toBe('completed');
  expect(stateOf({ state: 'failed', outcome: 'timeout' })).toBe('failed (timeout)');
});
