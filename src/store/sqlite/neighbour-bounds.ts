import { ForgeError } from '#kernel/errors.ts';
import { NEIGHBOUR_LIMITS } from '#kernel/neighbour-limits.ts';
import type { Database } from './database.ts';

/** Children and inbound edges, counted up to one more than the limit. By idx_tasks_parent_id and idx_deps_to_id. */
const COUNT_TIES = `SELECT (SELECT count(*) FROM (SELECT 1 FROM tasks WHERE parent_id = ?1 LIMIT ?2))
  + (SELECT count(*) FROM (SELECT 1 FROM dependencies WHERE to_id = ?1 LIMIT ?2)) AS n`;
const COUNT_WAITING = `SELECT (SELECT count(*) FROM (SELECT 1 FROM unresolved_parents WHERE parent_id = ?1 LIMIT ?2))
  + (SELECT count(*) FROM (SELECT 1 FROM unresolved_dependencies WHERE to_id = ?1 LIMIT ?2)) AS n`;
const TIES = `SELECT id FROM tasks WHERE parent_id = ?1 UNION SELECT from_id FROM dependencies WHERE to_id = ?1`;
const WAITING = `SELECT from_id AS id FROM unresolved_dependencies WHERE to_id = ?1 AND dep_type = 'blocks'`;
const MAPPED = 'SELECT id FROM tasks WHERE state IN (SELECT value FROM json_each(?))';
const COUNT_MAPPED = `SELECT count(*) AS n FROM (${MAPPED})`;
/**
 * What a record is made of, counted up to a number of its parts. Sizes stand in the rows' headers, so that no text is
 * read. By primary keys and idx_comments_task_id.
 */
const WEIGHT = `SELECT octet_length(t.description) + octet_length(t.metadata) + octet_length(t.labels)
    + coalesce(octet_length(t.stamps), 0) + coalesce(octet_length(t.extra), 0) + coalesce(octet_length(t.conflicts), 0)
    + coalesce(octet_length(t.edge_extra), 0)
    + (SELECT total(size) FROM (SELECT octet_length(body) AS size FROM comments WHERE task_id = t.id LIMIT ?2)) AS bytes,
    (SELECT count(*) FROM (SELECT 1 FROM comments WHERE task_id = t.id LIMIT ?2))
    + (SELECT count(*) FROM (SELECT 1 FROM dependencies WHERE from_id = t.id LIMIT ?2))
    + (SELECT count(*) FROM (SELECT 1 FROM unresolved_dependencies WHERE from_id = t.id LIMIT ?2)) AS parts
  FROM tasks t WHERE t.id = ?1`;
const COUNT_DEPENDENTS = `SELECT count(*) AS n FROM
  (SELECT 1 FROM dependencies WHERE to_id = ?1 AND dep_type = 'blocks' LIMIT ?2)`;

/** Throws too_large where a deletion would change the records of too many neighbours for one request of a server. */
export function refuseManyTies(db: Database, id: string): void {
  const most = NEIGHBOUR_LIMITS.rewritten;
  const command = `forge task delete ${id}`;
  if (count(db, COUNT_TIES, id, most) > most) throw tooMany(id, command);
  if (
    isHeavy(
      db,
      db.all(TIES, id).map((row) => row.id as string),
    )
  )
    throw tooLarge(id, command);
}

/** The same for a task that comes back. */
export function refuseManyRestored(db: Database, id: string, remembered: readonly string[]): void {
  const most = NEIGHBOUR_LIMITS.rewritten;
  const command = `forge task restore ${id}`;
  if (remembered.length + count(db, COUNT_WAITING, id, most) > most) throw tooMany(id, command);
  const waiting = db.all(WAITING, id).map((row) => row.id as string);
  if (isHeavy(db, [...new Set([...remembered, ...waiting])])) throw tooLarge(id, command);
}

/** The same for a task that is closed or opened again: its dependents keep their records, and are counted anew. */
export function refuseManyDependents(db: Database, id: string): void {
  const most = NEIGHBOUR_LIMITS.recounted;
  if (count(db, COUNT_DEPENDENTS, id, most) <= most) return;
  throw new ForgeError(
    'too_large',
    `More than ${most} tasks wait for ${id}, which are too many to count anew in one request of a server`,
    { hint: 'Run the same command in the repository, without --server', details: { id, limit: most } },
  );
}

/** The same for tasks whose states a new workflow maps to others. */
export function refuseManyMapped(db: Database, states: readonly string[]): void {
  const most = NEIGHBOUR_LIMITS.rewritten;
  const names = JSON.stringify(states);
  const tasks = Number(db.get(COUNT_MAPPED, names)?.n);
  const hint = 'forge workflow set <file> --map <from>=<to>, in the repository and without --server';
  if (tasks > most)
    throw new ForgeError('too_large', `${tasks} tasks are too many to move in one request of a server`, {
      hint,
      details: { limit: most },
    });
  if (
    !isHeavy(
      db,
      db.all(MAPPED, names).map((row) => row.id as string),
    )
  )
    return;
  throw new ForgeError('too_large', `${tasks} tasks are too large to move in one request of a server`, {
    hint,
    details: { limit_bytes: NEIGHBOUR_LIMITS.rewritten_bytes, limit_parts: NEIGHBOUR_LIMITS.rewritten_parts },
  });
}

/**
 * Whether the records of these tasks are too much to write anew in one request. One task of any size is none: any change
 * of it alone costs as much.
 */
function isHeavy(db: Database, ids: readonly string[]): boolean {
  const { rewritten_bytes, rewritten_parts } = NEIGHBOUR_LIMITS;
  if (ids.length < 2) return false;
  let [bytes, parts] = [0, 0];
  for (const id of ids) {
    const row = db.get(WEIGHT, id, rewritten_parts + 1);
    bytes += Number(row?.bytes ?? 0);
    parts += Number(row?.parts ?? 0);
    if (bytes > rewritten_bytes || parts > rewritten_parts) return true;
  }
  return false;
}

function count(db: Database, sql: string, id: string, most: number): number {
  return Number(db.get(sql, id, most + 1)?.n);
}

function tooMany(id: string, command: string): ForgeError {
  const most = NEIGHBOUR_LIMITS.rewritten;
  return new ForgeError(
    'too_large',
    `More than ${most} children and dependents of ${id} would be changed, which are too many for one request of a server`,
    { hint: `In the repository, without --server: ${command}`, details: { id, limit: most } },
  );
}

function tooLarge(id: string, command: string): ForgeError {
  const { rewritten_bytes, rewritten_parts } = NEIGHBOUR_LIMITS;
  const parts = rewritten_parts.toLocaleString('en');
  return new ForgeError(
    'too_large',
    `The children and dependents of ${id} that would be changed hold more than ${rewritten_bytes / 1_048_576} MiB, or ${parts} comments and dependencies, which is too much for one request of a server`,
    {
      hint: `In the repository, without --server: ${command}`,
      details: { id, limit_bytes: rewritten_bytes, limit_parts: rewritten_parts },
    },
  );
}
