import { findReach, listReached } from '#domain/bounded-walk.ts';
import { findPath, type Neighbours } from '#domain/graph-paths.ts';
import { ForgeError } from '#kernel/errors.ts';
import { SERVED_LIMITS } from '#kernel/served-limits.ts';
import type { Database } from './database.ts';
import type { WriteTransaction } from './write-transaction.ts';

/** Longer cycles are named by their ends; nobody reads a hundred ids. */
const SHOWN = 12;

/** Where the walk is, and whether it has a bound. */
type Place = Pick<WriteTransaction, 'db' | 'bounded'>;

/** `from` must not be reachable from `to` by `blocks` edges. Uses the primary key of dependencies. */
export function refuseDependencyCycle(place: Place, from: string, to: string): void {
  if (from === to) throw selfDependency(from);
  // Nothing waits for `from`, so no path can lead to it: the common case, without a walk.
  const any = "SELECT 1 AS found FROM dependencies WHERE to_id = ? AND dep_type = 'blocks' LIMIT 1";
  if (place.db.get(any, from) === undefined) return;
  const command = `forge dep add ${from} ${to}`;
  const path = findStoredPath(place, BLOCKERS, { start: to, goal: from, command });
  if (path === undefined) return;
  const cycle = [from, ...path];
  throw new ForgeError('dependency_cycle', `That would close a cycle: ${shown(cycle)}`, {
    hint: `forge dep tree ${to}`,
    details: { path: cycle },
  });
}

export function selfDependency(id: string): ForgeError {
  return new ForgeError('dependency_cycle', `${id} cannot depend on itself`, { details: { path: [id, id] } });
}

/** A task must not become its own ancestor. */
export function refuseParentCycle(place: Place, id: string, parent: string): void {
  const command = `forge task update ${id} --parent ${parent}`;
  const path = findStoredPath(place, PARENTS, { start: parent, goal: id, command });
  if (path === undefined) return;
  const cycle = [id, ...path];
  throw new ForgeError('dependency_cycle', `${id} would become its own ancestor: ${shown(cycle)}`, {
    details: { path: cycle },
  });
}

/** Everything that the task waits for, however far away, and the task itself. For the restore of that task. */
export function listAllBlockers(place: Place, id: string): ReadonlySet<string> {
  return listAll(place, BLOCKERS, id);
}

/** The task and everything that it lies in. */
export function listAncestors(place: Place, id: string): ReadonlySet<string> {
  return listAll(place, PARENTS, id);
}

function listAll({ db, bounded }: Place, { walk, next }: Ties, id: string): ReadonlySet<string> {
  if (!bounded) return new Set(db.all(`${walk} SELECT id FROM reached`, id).map((row) => row.id as string));
  const reached = listReached(id, { next: neighboursOf(db, next), most: MOST });
  if (reached === undefined) throw tooFar(id, `forge task restore ${id}`);
  return reached;
}

const MOST = SERVED_LIMITS.walked_edges;

/** What ties tasks together: a walk in one statement, and the steps of one task ahead and back. */
interface Ties {
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
const BLOCKERS: Ties = {
  walk: BLOCKER_WALK,
  next: "SELECT to_id AS id FROM dependencies WHERE from_id = ? AND dep_type = 'blocks' LIMIT ?",
  previous: "SELECT from_id AS id FROM dependencies WHERE to_id = ? AND dep_type = 'blocks' LIMIT ?",
};
const PARENTS: Ties = {
  walk: PARENT_WALK,
  next: 'SELECT parent_id AS id FROM tasks WHERE id = ? AND parent_id IS NOT NULL LIMIT ?',
  previous: 'SELECT id FROM tasks WHERE parent_id = ? LIMIT ?',
};

function neighboursOf(db: Database, sql: string): Neighbours {
  return (id) => db.all(sql, id, MOST + 1).map((row) => row.id as string);
}

function tooFar(id: string, command: string): ForgeError {
  return new ForgeError(
    'too_large',
    `More than ${MOST.toLocaleString('en')} dependencies lead on from ${id}, which are too many to look for a cycle in one request of a server`,
    { hint: `In the repository, without --server: ${command}`, details: { id, limit: MOST } },
  );
}

/** One statement says whether there is a way; its steps are read only for the error that names them. */
function findStoredPath(
  { db, bounded }: Place,
  { walk, next: ahead, previous }: Ties,
  { start, goal, command }: { readonly start: string; readonly goal: string; readonly command: string },
): readonly string[] | undefined {
  if (bounded) {
    const [next, back] = [neighboursOf(db, ahead), neighboursOf(db, previous)];
    const reach = findReach({ start, goal, next, previous: back, most: MOST });
    if (reach.outcome === 'too_many') throw tooFar(goal, command);
    return reach.outcome === 'reached' ? reach.path : undefined;
  }
  if (db.get(`${walk} SELECT 1 AS found FROM reached WHERE id = ?2 LIMIT 1`, start, goal) === undefined)
    return undefined;
  const steps = Map.groupBy(
    db.all(
      `${walk} SELECT step.from_id, step.to_id FROM reached JOIN step ON step.from_id = reached.id`,
      start,
    ),
    (row) => row.from_id as string,
  );
  const next: Neighbours = (id) => (steps.get(id) ?? []).map((row) => row.to_id as string);
  return findPath(start, goal, next);
}

function shown(path: readonly string[]): string {
  if (path.length <= SHOWN) return path.join(' -> ');
  return [...path.slice(0, SHOWN / 2), `(${path.length - SHOWN} more)`, ...path.slice(-SHOWN / 2)].join(
    ' -> ',
  );
}
