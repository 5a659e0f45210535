import { describe, expect, it } from 'vitest';
import { decodeTransition, encodeTransition } from './history-line.ts';

const AT = '2026-02-10T09:00:00.000Z';
const MOVE = {
  task_id: 'fg-1',
  created_at: AT,
  from_state: 'todo',
  to_state: 'done',
  from_status: 'open',
  to_status: 'closed',
  reason: null,
  triggered_by: 'user:ann',
  rejection: 0,
};
const PLAIN = { task: 'fg-1', at: AT, from: 'todo', to: 'done', by: 'user:ann' };

describe('a move as a line', () => {
  it.each([
    ['leaves out what the states tell', {}, PLAIN],
    ['says why', { reason: 'so' }, { ...PLAIN, reason: 'so' }],
    ['says that a gate said no', { rejection: 1 }, { ...PLAIN, rejection: true }],
    ['names the status of a state of its own', { to_status: 'open' }, { ...PLAIN, to_status: 'open' }],
    [
      'names both',
      { from_status: 'closed', to_status: 'open' },
      { ...PLAIN, from_status: 'closed', to_status: 'open' },
    ],
  ])('%s, and is the same move again', (_, more, line) => {
    const move = { ...MOVE, ...more };
    const text = encodeTransition(move);
    expect(text).toBe(JSON.stringify(line));
    const { created_at, ...rest } = move;
    expect(decodeTransition(text)).toEqual({ ...rest, at: Date.parse(created_at) });
  });

  it.each([
    ['a list', '[]', 'not an object'],
    ['nothing', 'null', 'not an object'],
    ['no task', JSON.stringify({ ...PLAIN, task: undefined }), '"task" is not a text'],
    ['an empty state', JSON.stringify({ ...PLAIN, to: '' }), '"to" is not a text'],
    ['a number in place of a name', JSON.stringify({ ...PLAIN, by: 5 }), '"by" is not a text'],
    ['no time', JSON.stringify({ ...PLAIN, at: 'today' }), '"at" is not a time'],
  ])('%s is none', (_, text, why) => {
    expect(() => decodeTransition(text)).toThrow(`Not a transition: ${why}`);
  });
});
