import { ForgeError } from '#kernel/errors.ts';
import { parseJson, type JsonObject } from '#kernel/json.ts';
import type { Database } from './database.ts';

/** Numbers about this store that belong to no task; 0 where none is known. */
export function readFact(db: Database, name: string): number {
  return findFact(db, name) ?? 0;
}

/** Undefined where the row is missing or holds no number: any program may write to the table. */
export function findFact(db: Database, name: string): number | undefined {
  return db.get(FIND, name)?.value as number | undefined;
}

/** Both, by one look. */
export function findTwoFacts(
  db: Database,
  [one, other]: readonly [string, string],
): readonly [number | undefined, number | undefined] {
  const row = db.get(FIND_TWO, one, other);
  return [(row?.one as number | null) ?? undefined, (row?.other as number | null) ?? undefined];
}

/** SQL that says whether a column is a number to JavaScript too. */
export function isNumber(column: string): string {
  return `typeof(${column}) = 'integer' AND ${column} BETWEEN ${Number.MIN_SAFE_INTEGER} AND ${Number.MAX_SAFE_INTEGER}`;
}

const FIND = `SELECT value FROM store_facts WHERE name = ? AND ${isNumber('value')}`;
const FIND_TWO = `SELECT (${FIND}) AS one, (${FIND}) AS other`;

/** Makes the row where it is missing. */
export function writeFact(db: Database, name: string, value: number): void {
  db.run(
    'INSERT INTO store_facts (name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value',
    name,
    value,
  );
}

/** Facts that the local replica holds too. */
const KEPT = ['paused_at'] as const;
export type KeptFact = (typeof KEPT)[number];

const FACT = '{"fact":';

export function encodeFact(name: KeptFact, value: number): string {
  return `${FACT}${JSON.stringify(name)},"value":${value}}`;
}

/** Undefined for a line that is no fact. */
export function decodeFact(line: string): { name: KeptFact; value: number } | undefined {
  if (!line.startsWith(FACT)) return undefined;
  const { fact, value } = parseJson(line, 'A line of the local replica') as JsonObject; // it begins as one
  const name = KEPT.find((known) => known === fact);
  if (name !== undefined && typeof value === 'number') return { name, value };
  throw new ForgeError(
    'invalid_input',
    'A line of the local replica is a fact that this version does not know',
  );
}

/** Those that say something, as lines of a replica. */
export function* keptFacts(db: Database): Generator<string> {
  for (const name of KEPT) {
    const value = readFact(db, name);
    if (value !== 0) yield encodeFact(name, value);
  }
}
