import type { Database } from './database.ts';

const RECOUNT = `UPDATE tasks SET open_blockers = counted.n FROM (
    SELECT t.id AS id,
      (SELECT count(*) FROM dependencies d JOIN tasks b ON b.id = d.to_id
        WHERE d.from_id = t.id AND d.dep_type = 'blocks' AND b.status <> 'closed')
      + (SELECT count(*) FROM unresolved_dependencies u
        WHERE u.from_id = t.id AND u.dep_type = 'blocks' AND u.closed = 0) AS n
    FROM tasks t) AS counted
  WHERE counted.id = tasks.id AND counted.n <> tasks.open_blockers`;

/** What one task at a time does when it comes and goes, for all of them at once. */
const SETTLE = [
  // Edges and children of tasks that are not here wait for them; an edge to a deleted task blocks nobody.
  `INSERT INTO unresolved_dependencies (from_id, to_id, dep_type, closed)
    SELECT from_id, to_id, dep_type, EXISTS (SELECT 1 FROM deleted_tasks g WHERE g.id = to_id) FROM dependencies
    WHERE NOT EXISTS (SELECT 1 FROM tasks t WHERE t.id = to_id) ON CONFLICT DO NOTHING`,
  'DELETE FROM dependencies WHERE NOT EXISTS (SELECT 1 FROM tasks t WHERE t.id = to_id)',
  `INSERT INTO unresolved_parents (task_id, parent_id) SELECT id, parent_id FROM tasks
    WHERE parent_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM tasks p WHERE p.id = tasks.parent_id)
    ON CONFLICT DO UPDATE SET parent_id = excluded.parent_id`,
  `UPDATE tasks SET parent_id = NULL
    WHERE parent_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM tasks p WHERE p.id = tasks.parent_id)`,
  // What waited for a task that came is adopted.
  `INSERT INTO dependencies (from_id, to_id, dep_type) SELECT from_id, to_id, dep_type FROM unresolved_dependencies
    WHERE EXISTS (SELECT 1 FROM tasks t WHERE t.id = to_id) ON CONFLICT DO NOTHING`,
  'DELETE FROM unresolved_dependencies WHERE EXISTS (SELECT 1 FROM tasks t WHERE t.id = to_id)',
  `UPDATE tasks SET parent_id = u.parent_id FROM unresolved_parents u
    WHERE u.task_id = tasks.id AND EXISTS (SELECT 1 FROM tasks p WHERE p.id = u.parent_id)`,
  'DELETE FROM unresolved_parents WHERE EXISTS (SELECT 1 FROM tasks p WHERE p.id = unresolved_parents.parent_id)',
];

/**
 * Inside a transaction: many writes without looking after each of them who waits for whom, and one look at the end.
 * Foreign keys are checked by the commit. The triggers come back with it, or with the rollback.
 */
export function writeInBulk<T>(db: Database, work: () => T): T {
  const triggers = db.all("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'");
  for (const { name } of triggers) db.execute(`DROP TRIGGER "${String(name)}"`);
  db.execute('PRAGMA defer_foreign_keys = ON; PRAGMA cache_size = -16000');
  const result = work();
  for (const statement of SETTLE) db.execute(statement);
  db.execute(RECOUNT);
  for (const { sql } of triggers) db.execute(sql as string);
  return result;
}
