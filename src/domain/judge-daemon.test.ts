import { expect, it } from 'vitest';
import { isBeatOver, mayBeAtWork } from './judge-daemon.ts';

it.each([
  ['alive', undefined, true],
  ['alive', false, true],
  ['alive', true, true],
  ['gone', undefined, false],
  ['gone', false, false],
  ['gone', true, false],
  ['unknown', undefined, true],
  ['unknown', false, true],
  ['unknown', true, false],
] as const)('a process that is %s, and over is %s, may be at work: %s', (seen, is_over, expected) => {
  expect(mayBeAtWork(seen, is_over)).toBe(expected);
});

const BEAT = { expires_at: 1_100, ttl_ms: 100 };
it.each([
  ['before its time', { at: 1_099 }, false],
  ['at its time', { at: 1_100 }, true],
  ['a command knows nothing of before', { at: 5_000 }, true],
  ['one that was awake all the while', { at: 1_100, awake: 1_000 }, true],
  ['one that was stopped', { at: 5_000, awake: 4_901 }, false],
  ['one that was stopped, and has waited', { at: 5_000, awake: 4_900 }, true],
  ['of a clock that was ahead', { at: 999 }, true],
] as const)('a beat is over, %s', (_, time, expected) => {
  expect(isBeatOver(BEAT, time)).toBe(expected);
});
