import { findReach, listReached, type Reach } from '#domain/bounded-walk.ts';
import { findPath, type Neighbours } from '#domain/graph-paths.ts';
import { SERVED_LIMITS } from '#kernel/served-limits.ts';
import type { Database } from './database.ts';
import type { WriteTransaction } from './write-transaction.ts';

/** Where the walk is, and whether it has a bound. */
type Place = Pick<WriteTransaction, 'db' | 'bounded'>;

/** Whether `from` is reached from `to` by `blocks` edges. Uses the primary key of dependencies. */
export function findWayBack(place: Place, from: string, to: string): Reach {
  // Nothing waits for `from`, so no path can lead to it: the common case, without a walk.
  const any = "SELECT 1 AS found FROM dependencies WHERE to_id = ? AND dep_type = 'blocks' LIMIT 1";
  if (place.db.get(any, from) === undefined) return { outcome: 'apart' };
  return findStoredPath(place, BLOCKERS, { start: to, goal: from });
}

/** Whether the parent lies in the task. */
export function findWayUp(place: Place, id: string, parent: string): Reach {
  return findStoredPath(place, PARENTS, { start: parent, goal: id });
}

/** Everything that the task waits for, however far away, and the task itself; undefined where the walk has a bound and comes to it. */
export function listAllBlockers(place: Place, id: string): ReadonlySet<string> | undefined {
  return listAll(place, BLOCKERS, id);
}

/** The task and everything that it lies in; likewise. */
export function listAncestors(place: Place, id: string): ReadonlySet<string> | undefined {
  return listAll(place, PARENTS, id);
}

function listAll({ db, bounded }: Place, { walk, next }: Steps, id: string): ReadonlySet<string> | undefined {
  if (!bounded) return new Set(db.all(`${walk} SELECT id FROM reached`, id).map((row) => row.id as string));
  return listReached(id, { next: neighboursOf(db, next), most: MOST });
}

const MOST = SERVED_LIMITS.walked_edges;

/** What ties tasks together: a walk in one statement, and the steps of one task ahead and back. */
interface Steps {
  readonly walk: string;
  readonly next: string;
  readonly previous: string;
}

/** Each with a visited set (UNION drops what is known); by the primary keys of dependencies and tasks. */
const BLOCKER_WALK = `WITH RECURSIVE
  step(from_id, to_id) AS NOT MATERIALIZED (SELECT from_id, to_id FROM dependencies WHERE dep_type = 'blocks'),
  reached(id) AS (SELECT ?1 UNION SELECT step.to_id FROM reached JOIN step ON step.from_id = reached.id)`;
const PARENT_WALK = `WITH RECURSIVE
  step(from_id, to_id) AS NOT MATERIALIZED (SELECT id, parent_id FROM tasks WHERE parent_id IS NOT NULL),
  reached(id) AS (SELECT ?1 UNION SELECT step.to_id FROM reached JOIN step ON step.from_id = reached.id)`;

/** By the primary keys, idx_deps_to_id and idx_tasks_parent_id. */
const BLOCKERS: Steps = {
  walk: BLOCKER_WALK,
  next: "SELECT to_id AS id FROM dependencies WHERE from_id = ? AND dep_type = 'blocks' LIMIT ?",
  previous: "SELECT from_id AS id FROM dependencies WHERE to_id = ? AND dep_type = 'blocks' LIMIT ?",
};
const PARENTS: Steps = {
  walk: PARENT_WALK,
  next: 'SELECT parent_id AS id FROM tasks WHERE id = ? AND parent_id IS NOT NULL LIMIT ?',
  previous: 'SELECT id FROM tasks WHERE parent_id = ? LIMIT ?',
};

function neighboursOf(db: Database, sql: string): Neighbours {
  return (id) => db.all(sql, id, MOST + 1).map((row) => row.id as string);
}

/** One statement says whether there is a way; its steps are read only where there is one. Of ways as short the first by ids. */
function findStoredPath(
  { db, bounded }: Place,
  { walk, next: ahead, previous }: Steps,
  { start, goal }: { readonly start: string; readonly goal: string },
): Reach {
  if (bounded) {
    const [next, back] = [neighboursOf(db, ahead), neighboursOf(db, previous)];
    return findReach({ start, goal, next, previous: back, most: MOST });
  }
  if (db.get(`${walk} SELECT 1 AS found FROM reached WHERE id = ?2 LIMIT 1`, start, goal) === undefined)
    return { outcome: 'apart' };
  const steps = Map.groupBy(
    db.all(
      `${walk} SELECT step.from_id, step.to_id FROM reached JOIN step ON step.from_id = reached.id ORDER BY 2`,
      start,
    ),
    (row) => row.from_id as string,
  );
  const next: Neighbours = (id) => (steps.get(id) ?? []).map((row) => row.to_id as string);
  const path = findPath(start, goal, next);
  return path === undefined ? { outcome: 'apart' } : { outcome: 'reached', path };
}
