import { lstatSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { LIMITS } from '#kernel/limits.ts';
import { Database, type Row } from './sqlite/database.ts';

/** What a session of opencode has used, with those that it began from it. */
export interface OpencodeCounts {
  /** What came from a cache is part of it. */
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  readonly cost_usd: number;
}

/** By the primary key, and by opencode's own index on the parent. */
const COUNTS = `WITH RECURSIVE own(id) AS (
    SELECT id FROM session WHERE id = ?
    UNION SELECT session.id FROM session JOIN own ON session.parent_id = own.id)
  SELECT count(*) AS found, sum(tokens_input) AS input, sum(tokens_output) AS output,
    sum(tokens_reasoning) AS reasoning, sum(tokens_cache_read) AS cache_read,
    sum(tokens_cache_write) AS cache_write, sum(cost) AS cost
  FROM session WHERE id IN (SELECT id FROM own)`;

/**
 * opencode tells over its protocol what the last request of a turn used, and not the others. Its database has them all,
 * while it works too. Undefined where that is not there or looks otherwise than it did in opencode 1.18.
 */
export function countOpencode({
  env,
  session_id,
}: {
  readonly env: Readonly<Record<string, string>>;
  readonly session_id: string;
}): OpencodeCounts | undefined {
  const data = env['XDG_DATA_HOME'] || join(env['HOME'] ?? '', '.local', 'share');
  const path = resolve(data, 'opencode', env['OPENCODE_DB'] || 'opencode.db');
  if (env['HOME'] === undefined || !isPlainFile(path)) return undefined;
  try {
    const row = readCounts(path, session_id);
    return row === undefined ? undefined : toCounts(row);
  } catch {
    // Busy, of another version, or none: what the protocol says has to do.
    return undefined;
  }
}

function readCounts(path: string, session_id: string): Row | undefined {
  const database = new Database(path, { lock_timeout_ms: 0, read_only: true });
  try {
    return isPlainTable(database) ? database.get(COUNTS, session_id) : undefined;
  } finally {
    database.close();
  }
}

/** The agent can put anything there: to open a pipe would wait for ever. */
function isPlainFile(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found?.isFile() === true && found.size <= LIMITS.opencode_database_bytes;
}

/** A view, or a column that is computed, would run here what the agent wrote. */
function isPlainTable(database: Database): boolean {
  const kind = database.get(KIND);
  const computed = database.get(COMPUTED);
  return kind?.['found'] === 1 && computed?.['found'] === 0;
}

const KIND = `SELECT count(*) AS found FROM sqlite_schema
  WHERE name = 'session' AND type = 'table' AND sql LIKE 'CREATE TABLE%'`;
const COMPUTED = `SELECT count(*) AS found FROM pragma_table_xinfo('session') WHERE hidden <> 0`;

function toCounts(row: Readonly<Record<string, unknown>>): OpencodeCounts | undefined {
  const of = (name: string): number => Number(row[name] ?? Number.NaN);
  const cached = of('cache_read');
  const counts = {
    input: of('input') + cached + of('cache_write'),
    output: of('output') + of('reasoning'),
    cached,
    cost_usd: of('cost'),
  };
  return of('found') > 0 && Object.values(counts).every(Number.isFinite) ? counts : undefined;
}
