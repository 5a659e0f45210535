import { execFileSync } from 'node:child_process';
import { expect, it, onTestFinished, vi } from 'vitest';
import { LIMITS } from '#kernel/limits.ts';
import { limitYoungSpace, YOUNG_SPACE } from './limit-young-space.ts';

it('ends the growth of the space for new objects once it has its size, and not before', () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  let size = LIMITS.server_young_bytes - 1;
  const flags: string[] = [];
  limitYoungSpace(undefined, { readBytes: () => size, setFlag: (flag) => void flags.push(flag) });
  vi.advanceTimersByTime(60_000);
  expect(flags).toEqual([]);
  size += 1;
  vi.advanceTimersByTime(60_000);
  expect(flags).toEqual(['--semi-space-growth-factor=1']);
  expect(vi.getTimerCount()).toBe(0);
});

it('asks for what this V8 has: the space, and the flag', () => {
  expect(YOUNG_SPACE.readBytes()).toBeGreaterThan(0);
  // Of a flag that it does not know V8 says nothing to a program.
  const options = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' });
  expect(options).toMatch(/^ +--semi-space-growth-factor /m);
});
