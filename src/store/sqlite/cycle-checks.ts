import { findPath } from '#domain/graph-paths.ts';
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
  const blockers = "SELECT to_id FROM dependencies WHERE from_id = ? AND dep_type = 'blocks'";
  const path = findPath(to, from, (id) => db.all(blockers, id).map((row) => row.to_id as string));
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
  const path = findPath(parent, id, (at) => {
    const up = db.get('SELECT parent_id FROM tasks WHERE id = ?', at)?.parent_id;
    return typeof up === 'string' ? [up] : [];
  });
  if (path === undefined) return;
  const cycle = [id, ...path];
  throw new ForgeError('dependency_cycle', `${id} would become its own ancestor: ${shown(cycle)}`, {
    details: { path: cycle },
  });
}

function shown(path: readonly string[]): string {
  if (path.length <= SHOWN) return path.join(' -> ');
  return [...path.slice(0, SHOWN / 2), `(${path.length - SHOWN} more)`, ...path.slice(-SHOWN / 2)].join(
    ' -> ',
  );
}
