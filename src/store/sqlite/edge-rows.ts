import type { DependencyType } from '#contract/task.ts';
import { splitDependencyKey, type TaskRecord } from '#domain/task-record.ts';
import type { Database } from './database.ts';

export const INSERT_EDGE =
  'INSERT INTO dependencies (from_id, to_id, dep_type) VALUES (?, ?, ?) ON CONFLICT DO NOTHING';

/** The record's edges as rows; those to tasks that are not here wait in a table of their own. */
export function writeDependencies(db: Database, before: TaskRecord | undefined, after: TaskRecord): void {
  const old = presentEdges(before);
  const now = presentEdges(after);
  for (const key of old) {
    if (now.has(key)) continue;
    const { id, type } = splitDependencyKey(key);
    for (const table of ['dependencies', 'unresolved_dependencies']) {
      db.run(`DELETE FROM ${table} WHERE from_id = ? AND to_id = ? AND dep_type = ?`, after.id, id, type);
    }
  }
  for (const key of now) {
    if (old.has(key)) continue;
    const { id, type } = splitDependencyKey(key);
    insertEdge(db, { from: after.id, to: id, type: type as DependencyType }); // decoded as such
  }
}

/** Edges and children that waited for this task become real ones. */
export function adoptUnresolved(db: Database, id: string): void {
  db.run(
    `INSERT INTO dependencies (from_id, to_id, dep_type) SELECT from_id, to_id, dep_type FROM unresolved_dependencies
      WHERE to_id = ? ON CONFLICT DO NOTHING`,
    id,
  );
  db.run('DELETE FROM unresolved_dependencies WHERE to_id = ?', id);
  db.run(
    'UPDATE tasks SET parent_id = ?1 WHERE id IN (SELECT task_id FROM unresolved_parents WHERE parent_id = ?1)',
    id,
  );
  db.run('DELETE FROM unresolved_parents WHERE parent_id = ?', id);
}

/**
 * Takes a task's row away without losing what others say of it: their edges to it and their parent wait for it. An edge
 * to a deleted task blocks nobody, as if the deletion had found it here.
 */
export function removeRow(db: Database, id: string): void {
  db.run(
    `INSERT INTO unresolved_dependencies (from_id, to_id, dep_type, closed)
      SELECT from_id, to_id, dep_type, 1 FROM dependencies WHERE to_id = ? ON CONFLICT DO NOTHING`,
    id,
  );
  db.run(
    'INSERT INTO unresolved_parents (task_id, parent_id) SELECT id, parent_id FROM tasks WHERE parent_id = ? ON CONFLICT DO NOTHING',
    id,
  );
  db.run('DELETE FROM dependencies WHERE to_id = ?', id);
  db.run('DELETE FROM tasks WHERE id = ?', id);
}

function insertEdge(db: Database, edge: { from: string; to: string; type: DependencyType }): void {
  const { from, to, type } = edge;
  if (db.get('SELECT 1 AS known FROM tasks WHERE id = ?', to) !== undefined) {
    db.run(INSERT_EDGE, from, to, type);
    return;
  }
  const deleted = db.get('SELECT 1 AS known FROM deleted_tasks WHERE id = ?', to) !== undefined;
  db.run(
    'INSERT INTO unresolved_dependencies (from_id, to_id, dep_type, closed) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
    from,
    to,
    type,
    deleted ? 1 : 0,
  );
}

function presentEdges(record: TaskRecord | undefined): Set<string> {
  const edges = new Set<string>();
  for (const [key, { value }] of record?.dependencies.elements ?? []) {
    if (value !== undefined) edges.add(key);
  }
  return edges;
}
