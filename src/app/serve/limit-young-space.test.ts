import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';

const MODULE = new URL('limit-young-space.ts', import.meta.url).href;

it('ends the growth of the space for new objects, which else goes on', () => {
  const free = measureYoungSpace('');
  const limited = measureYoungSpace(
    `const { limitYoungSpace } = await import(${JSON.stringify(MODULE)}); limitYoungSpace(1);`,
  );
  expect(free).toBeGreaterThan(limited * 2);
});

/** In a process of its own, because it is for good: its size after much that lives for a while. */
function measureYoungSpace(before: string): number {
  const script = `
    import { getHeapSpaceStatistics } from 'node:v8';
    ${before}
    await new Promise((resolve) => setTimeout(resolve, 300));
    let kept = [];
    for (let at = 0; at < 3_000_000; at += 1) {
      kept.push({ at });
      if (kept.length > 300_000) kept = [];
    }
    console.log(getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size);`;
  const args = ['--input-type=module', '--eval', script];
  return Number(execFileSync(process.execPath, args, { cwd: import.meta.dirname, encoding: 'utf8' }));
}
