import { findPath, type Neighbours } from '#domain/graph-paths.ts';
import { ForgeError } from '#kernel/errors.ts';
import type { Database } from './database.ts';

/** Longer cycles are named by their ends; nobody reads a hundred ids. */
const SHOWN = 12;

/** `from` must not be reachable from `to` by `blocks` edges. Uses the primary key of dependencies. */
export function refuseDependencyCycle(db: Database, from: string, to: string): void {
  if (from === to) throw selfDependency(from);
  // Nothing waits for `from`, so no path can lead to it: the common case, without a walk.
  if (
    db.get("SELECT 1 AS found FROM dependencies WHERE to_id = ? AND dep_type = 'blocks' LIMIT 1", from) ===
    undefined
  )
    return;
  const path = findStoredPath(db, BLOCKER_WALK, { start: to, goal: from });
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
export function refuseParentCycle(db: Database, id: string, parent: string): void {
  const path = findStoredPath(db, PARENT_WALK, { start: parent, goal: id });
  if (path === undefined) return;
  const cycle = [id, ...path];
  throw new ForgeError('dependency_cycle', `${id} would become its own ancestor: ${shown(cycle)}`, {
    details: { path: cycle },
  });
}

/** Everything that the task waits for, however far away, and the task itself. One statement. */
export function listAllBlockers(db: Database, id: string): ReadonlySet<string> {
  return new Set(db.all(`${BLOCKER_WALK} SELECT id FROM reached`, id).map((row) => row.id as string));
}

/** The task and everything that it lies in. */
export function listAncestors(db: Database, id: string): ReadonlySet<string> {
  return new Set(db.all(`${PARENT_WALK} SELECT id FROM reached`, id).map((row) => row.id as string));
}

/** Each with a visited set (UNION drops what is known); by the primary keys of dependencies and tasks. */
const BLOCKER_WALK = `WITH RECURSIVE
  step(from_id, to_id) AS NOT MATERIALIZED (SELECT from_id, to_id FROM dependencies WHERE dep_type = 'blocks'),
  reached(id) AS (SELECT ?1 UNION SELECT step.to_id FROM reached JOIN step ON step.from_id = reached.id)`;
const PARENT_WALK = `WITH RECURSIVE
  step(from_id, to_id) AS NOT MATERIALIZED (SELECT id, parent_id FROM tasks WHERE parent_id IS NOT NULL),
  reached(id) AS (SELECT ?1 UNION SELECT step.to_id FROM reached JOIN step ON step.from_id = reached.id)`;

/** One statement says whether there is a way; its steps are read only for the error that names them. */
function findStoredPath(
  db: Database,
  walk: string,
  { start, goal }: { readonly start: string; readonly goal: string },
): string[] | undefined {
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
