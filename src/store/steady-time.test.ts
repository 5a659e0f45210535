import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { LIMITS } from '#kernel/limits.ts';
import { openSteadyTime, openWakefulTime } from './steady-time.ts';

it('is one clock for all processes of the machine, and only goes on', () => {
  const read = openSteadyTime();
  const before = read();
  const module = join(import.meta.dirname, 'steady-time.ts');
  const script = `import { openSteadyTime } from ${JSON.stringify(module)}; console.log(JSON.stringify(openSteadyTime()()))`;
  const told = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: import.meta.dirname,
    encoding: 'utf8',
  });
  const between = JSON.parse(told) as typeof before;
  const after = read();
  expect(between.clock).toBe(before.clock);
  expect(before.at).toBeLessThanOrEqual(between.at);
  expect(between.at).toBeLessThanOrEqual(after.at);
  expect(Number.isSafeInteger(before.clock)).toBe(true);
});

it('[M7] a process that stays knows when it was stopped, also before its timers run again', async () => {
  using time = openWakefulTime();
  const { awake } = time.read();
  await new Promise((resolve) => setTimeout(resolve, 2 * LIMITS.wake_tick_ms));
  expect(time.read().awake).toBe(awake);
  // Nothing of this process runs meanwhile, as if it were stopped.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LIMITS.stop_noticed_ms + 200);
  const woken = time.read();
  expect(woken.awake).toBe(woken.at);
  await new Promise((resolve) => setTimeout(resolve, 2 * LIMITS.wake_tick_ms));
  expect(time.read().awake).toBe(woken.awake);
});
