import {
  decideRecount,
  decideRewrite,
  explainRewrite,
  isHeavy,
  type RecordWeight,
  type Rewrite,
} from '#domain/decide-rewrite.ts';
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
  const tasks = count(db, COUNT_TIES, id, NEIGHBOUR_LIMITS.rewritten);
  refuse({ what: 'delete', id }, { tasks, weigh: () => weighAll(db, listIds(db, TIES, id)) });
}

/** The same for a task that comes back. */
export function refuseManyRestored(db: Database, id: string, remembered: readonly string[]): void {
  const tasks = remembered.length + count(db, COUNT_WAITING, id, NEIGHBOUR_LIMITS.rewritten);
  const weigh = (): RecordWeight => weighAll(db, [...new Set([...remembered, ...listIds(db, WAITING, id)])]);
  refuse({ what: 'restore', id }, { tasks, weigh });
}

/** The same for a task that is closed or opened again: its dependents keep their records, and are counted anew. */
export function refuseManyDependents(db: Database, id: string): void {
  const refusal = decideRecount(id, count(db, COUNT_DEPENDENTS, id, NEIGHBOUR_LIMITS.recounted));
  if (refusal !== undefined) throw refusal;
}

/** The same for tasks whose states a new workflow maps to others. */
export function refuseManyMapped(db: Database, states: readonly string[]): void {
  const names = JSON.stringify(states);
  const tasks = Number(db.get(COUNT_MAPPED, names)?.n);
  refuse({ what: 'map' }, { tasks, weigh: () => weighAll(db, listIds(db, MAPPED, names)) });
}

function refuse(
  rewrite: Rewrite,
  facts: { readonly tasks: number; readonly weigh: () => RecordWeight },
): void {
  const refusal = decideRewrite(rewrite, facts);
  if (refusal !== undefined) throw explainRewrite(refusal);
}

/** Of the records together, as far as it takes to know that they are too much. */
function weighAll(db: Database, ids: readonly string[]): RecordWeight {
  let [bytes, parts] = [0, 0];
  if (ids.length < 2) return { bytes, parts };
  for (const id of ids) {
    const row = db.get(WEIGHT, id, NEIGHBOUR_LIMITS.rewritten_parts + 1);
    bytes += Number(row?.bytes ?? 0);
    parts += Number(row?.parts ?? 0);
    if (isHeavy({ bytes, parts })) break;
  }
  return { bytes, parts };
}

function listIds(db: Database, sql: string, value: string): string[] {
  return db.all(sql, value).map((row) => row.id as string);
}

function count(db: Database, sql: string, id: string, most: number): number {
  return Number(db.get(sql, id, most + 1)?.n);
}
