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

  it.each(Object.entries(LIMITS))('%s (%d) is a positive number', (_name, value) => {
    expect(value).toBeGreaterThan(0);
    expect(Number.isFinite(value)).toBe(true);
  });

  it('ends time at the year 2200', () => {
    expect(LIMITS.stamp_max_ms).toBe(Date.UTC(2200, 0, 1));
  });
});
