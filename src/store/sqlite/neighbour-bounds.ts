import { ForgeError } from '#kernel/errors.ts';
import { NEIGHBOUR_LIMITS } from '#kernel/neighbour-limits.ts';
import type { Database } from './database.ts';

/** Children and inbound edges, counted up to one more than the limit. By idx_tasks_parent_id and idx_deps_to_id. */
const COUNT_TIES = `SELECT (SELECT count(*) FROM (SELECT 1 FROM tasks WHERE parent_id = ?1 LIMIT ?2))
  + (SELECT count(*) FROM (SELECT 1 FROM dependencies WHERE to_id = ?1 LIMIT ?2)) AS n`;
const COUNT_WAITING = `SELECT (SELECT count(*) FROM (SELECT 1 FROM unresolved_parents WHERE parent_id = ?1 LIMIT ?2))
  + (SELECT count(*) FROM (SELECT 1 FROM unresolved_dependencies WHERE to_id = ?1 LIMIT ?2)) AS n`;
const COUNT_DEPENDENTS = `SELECT count(*) AS n FROM
  (SELECT 1 FROM dependencies WHERE to_id = ?1 AND dep_type = 'blocks' LIMIT ?2)`;

/** Throws too_large where a deletion would change the records of too many neighbours for one request of a server. */
export function refuseManyTies(db: Database, id: string): void {
  const most = NEIGHBOUR_LIMITS.rewritten;
  if (count(db, COUNT_TIES, id, most) > most) throw tooMany(id, `forge task delete ${id}`);
}

/** The same for a task that comes back. */
export function refuseManyRestored(db: Database, id: string, remembered: number): void {
  const most = NEIGHBOUR_LIMITS.rewritten;
  if (remembered + count(db, COUNT_WAITING, id, most) > most) throw tooMany(id, `forge task restore ${id}`);
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
export function refuseManyMapped(tasks: number): void {
  const most = NEIGHBOUR_LIMITS.rewritten;
  if (tasks <= most) return;
  throw new ForgeError('too_large', `${tasks} tasks are too many to move in one request of a server`, {
    hint: 'forge workflow set <file> --map <from>=<to>, in the repository and without --server',
    details: { limit: most },
  });
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
