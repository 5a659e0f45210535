import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { OPERATIONS } from '#contract/operations.ts';
import { KEPT_LIMITS } from '#kernel/kept-limits.ts';
import { LIMITS } from '#kernel/limits.ts';
import { NEIGHBOUR_LIMITS } from '#kernel/neighbour-limits.ts';
import { SERVED_LIMITS } from '#kernel/served-limits.ts';
import { WATCH_LIMITS } from '#kernel/watch-limits.ts';

const SRC = join(import.meta.dirname, '../src');
const source = globSync('**/*.ts', { cwd: SRC })
  .filter((path) => !path.endsWith('.test.ts') && !path.endsWith('limits.ts'))
  .map((path) => readFileSync(join(SRC, path), 'utf8'))
  .join('\n');

type Table = Readonly<Record<string, number | Readonly<Record<string, number>>>>;
const TABLES: Readonly<Record<string, Table>> = {
  LIMITS,
  KEPT_LIMITS,
  NEIGHBOUR_LIMITS,
  SERVED_LIMITS,
  WATCH_LIMITS,
};

describe('the limits', () => {
  const limits = Object.entries(TABLES).flatMap(([table, values]) =>
    Object.entries(values).map(([name, value]) => ({ name: `${table}.${name}`, value })),
  );
  it.each(limits)('$name is enforced somewhere', ({ name }) => {
    const [table, key] = name.split('.');
    expect(source).toMatch(new RegExp(String.raw`\b${table}\.${key}\b|\b${key}\b[^{}]*\} = ${table};`));
  });

  const parts = limits.flatMap(({ name, value }): [string, number][] =>
    typeof value === 'number'
      ? [[name, value]]
      : Object.entries(value).map(([part, size]) => [`${name}.${part}`, size]),
  );
  it.each(parts)('%s (%d) is a positive number', (_name, value) => {
    expect(value).toBeGreaterThan(0);
    expect(Number.isFinite(value)).toBe(true);
  });

  it.each(Object.values(OPERATIONS).filter(({ http }) => http !== undefined))(
    'bound the number of entries of every list that $name takes from a client',
    ({ input }) => {
      expect(listUnbounded(z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' }))).toEqual([]);
    },
  );

  it('find a list without a bound', () => {
    const nested = z.object({
      a: z.array(z.string()).max(3),
      b: z.object({ c: z.array(z.int()).nullable() }),
    });
    expect(listUnbounded(z.toJSONSchema(nested))).toEqual(['.b.c']);
  });

  it('ends time at the year 2200', () => {
    expect(LIMITS.stamp_max_ms).toBe(Date.UTC(2200, 0, 1));
  });
});

interface Schema {
  readonly type?: unknown;
  readonly maxItems?: number;
  readonly items?: unknown;
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly additionalProperties?: unknown;
  readonly anyOf?: readonly unknown[];
}

/** The places of lists that may have any number of entries. */
function listUnbounded(given: unknown, place = ''): string[] {
  if (typeof given !== 'object' || given === null) return [];
  const { type, maxItems, items, properties = {}, additionalProperties, anyOf = [] } = given as Schema; // of zod
  return [
    ...(type === 'array' && maxItems === undefined ? [place] : []),
    ...Object.entries(properties).flatMap(([name, part]) => listUnbounded(part, `${place}.${name}`)),
    ...[items, additionalProperties, ...anyOf].flatMap((part) => listUnbounded(part, place)),
  ];
}
