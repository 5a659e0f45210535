import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LIMITS } from '#kernel/limits.ts';

const SRC = join(import.meta.dirname, '../src');
const source = globSync('**/*.ts', { cwd: SRC })
  .filter((path) => !path.endsWith('.test.ts') && !path.endsWith('limits.ts'))
  .map((path) => readFileSync(join(SRC, path), 'utf8'))
  .join('\n');

describe('the limits', () => {
  it.each(Object.keys(LIMITS))('%s is enforced somewhere', (name) => {
    expect(source).toMatch(new RegExp(`LIMITS\\.${name}\\b`));
  });

  const parts = Object.entries(LIMITS).flatMap(([name, value]): [string, number][] =>
    typeof value === 'number'
      ? [[name, value]]
      : Object.entries(value).map(([part, size]) => [`${name}.${part}`, size]),
  );
  it.each(parts)('%s (%d) is a positive number', (_name, value) => {
    expect(value).toBeGreaterThan(0);
    expect(Number.isFinite(value)).toBe(true);
  });

  it('ends time at the year 2200', () => {
    expect(LIMITS.stamp_max_ms).toBe(Date.UTC(2200, 0, 1));
  });
});
