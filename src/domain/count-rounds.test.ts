import { expect, test } from 'vitest';
import type { Run } from '#contract/attempt.ts';
import { countFailedRounds } from './count-rounds.ts';

/** a, b and c are side by side; d was begun when they were over. */
const ATTEMPTS = [
  { id: 'a', created_at: '2026-01-01T00:00:00.000Z', finished_at: '2026-01-02T00:00:00.000Z' },
  { id: 'b', created_at: '2026-01-01T00:00:01.000Z', finished_at: '2026-01-02T00:00:00.000Z' },
  { id: 'c', created_at: '2026-01-01T12:00:00.000Z', finished_at: '2026-01-02T00:00:00.000Z' },
  { id: 'd', created_at: '2026-01-02T00:00:00.000Z', finished_at: null },
];
const OUTCOMES: Readonly<Record<string, Run['outcome']>> = {
  ok: 'completed',
  bad: 'failed',
  cut: 'crashed',
  none: null,
};

test.each([
  ['', 0],
  ['a:bad', 1],
  ['a:bad a:bad a:bad', 3],
  ['a:bad a:ok', 0],
  ['a:bad a:ok a:bad', 1],
  // All of a round that fail are one try, and one that gets somewhere makes it a good one.
  ['a:bad b:bad c:bad', 1],
  ['a:bad b:bad c:bad a:bad b:bad c:bad', 2],
  ['a:ok b:bad c:bad', 0],
  ['a:bad b:ok c:bad', 0],
  ['a:ok b:bad c:bad a:bad b:bad', 1],
  // Some join one that was alone.
  ['a:bad a:bad b:bad c:bad', 2],
  // What was cut off is gone on with in the same round.
  ['a:cut b:bad a:bad c:bad', 1],
  ['a:none b:cut', 0],
  // One after the other is not side by side.
  ['a:bad d:bad', 2],
  ['a:bad b:bad d:bad d:bad', 3],
])('%s: %i in a row', (text, count) => {
  const runs = text.split(' ').flatMap((one) => {
    const [attempt_id = '', outcome = ''] = one.split(':');
    return one === '' ? [] : [{ attempt_id, outcome: OUTCOMES[outcome] ?? null }];
  });
  expect(countFailedRounds(runs, ATTEMPTS)).toBe(count);
});
