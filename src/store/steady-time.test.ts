import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openSteadyTime } from './steady-time.ts';

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
