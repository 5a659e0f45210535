import type { Database } from './database.ts';

/** By edges, not by tasks: most of these are in the right already. */
const RECOUNT = `WITH counted AS MATERIALIZED (
    SELECT from_id AS id, count(*) AS n FROM (
      SELECT d.from_id FROM dependencies d JOIN tasks b ON b.id = d.to_id
        WHERE d.dep_type = 'blocks' AND b.status <> 'closed'
      UNION ALL SELECT u.from_id FROM unresolved_dependencies u WHERE u.dep_type = 'blocks' AND u.closed = 0)
    GROUP BY from_id)`;
const SET_COUNTS = `${RECOUNT} UPDATE tasks SET open_blockers = counted.n FROM counted
    WHERE counted.id = tasks.id AND counted.n <> tasks.open_blockers`;
const CLEAR_COUNTS = `${RECOUNT} UPDATE tasks SET open_blockers = 0
    WHERE open_blockers <> 0 AND NOT EXISTS (SELECT 1 FROM counted WHERE counted.id = tasks.id)`;

/**
 * What one task at a time does when it comes and goes, for all of them at once. The second of each pair follows where
 * the first found something.
 */
const SETTLE: readonly (readonly [string, string])[] = [
  // Edges and children of tasks that are not here wait for them; an edge to a deleted task blocks nobody.
  [
    `INSERT INTO unresolved_dependencies (from_id, to_id, dep_type, closed)
      SELECT from_id, to_id, dep_type, EXISTS (SELECT 1 FROM deleted_tasks g WHERE g.id = to_id) FROM dependencies
      WHERE NOT EXISTS (SELECT 1 FROM tasks t WHERE t.id = to_id)
      ON CONFLICT DO UPDATE SET closed = max(closed, excluded.closed)`,
    'DELETE FROM dependencies WHERE NOT EXISTS (SELECT 1 FROM tasks t WHERE t.id = to_id)',
  ],
  [
    `INSERT INTO unresolved_parents (task_id, parent_id) SELECT id, parent_id FROM tasks
      WHERE parent_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM tasks p WHERE p.id = tasks.parent_id)
      ON CONFLICT DO UPDATE SET parent_id = excluded.parent_id`,
    `UPDATE tasks SET parent_id = NULL
      WHERE parent_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM tasks p WHERE p.id = tasks.parent_id)`,
  ],
  // What waited for a task that came is adopted.
  [
    `INSERT INTO dependencies (from_id, to_id, dep_type) SELECT from_id, to_id, dep_type FROM unresolved_dependencies
      WHERE EXISTS (SELECT 1 FROM tasks t WHERE t.id = to_id)
      ON CONFLICT DO UPDATE SET dep_type = excluded.dep_type`,
    'DELETE FROM unresolved_dependencies WHERE EXISTS (SELECT 1 FROM tasks t WHERE t.id = to_id)',
  ],
  [
    `UPDATE tasks SET parent_id = u.parent_id FROM unresolved_parents u
      WHERE u.task_id = tasks.id AND EXISTS (SELECT 1 FROM tasks p WHERE p.id = u.parent_id)`,
    'DELETE FROM unresolved_parents WHERE EXISTS (SELECT 1 FROM tasks p WHERE p.id = unresolved_parents.parent_id)',
  ],
];

/**
 * Inside a transaction: many writes without looking after each of them who waits for whom, and one look at the end.
 * Foreign keys are checked by the commit. The triggers come back with it, or with the rollback.
 */
export function writeInBulk<T>(db: Database, work: () => T): T {
  const triggers = db.all("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'");
  for (const { name } of triggers) db.execute(`DROP TRIGGER "${String(name)}"`);
  db.execute('PRAGMA defer_foreign_keys = ON; PRAGMA cache_size = -16000');
  const had_counts = db.get('SELECT 1 AS found FROM tasks WHERE open_blockers <> 0 LIMIT 1') !== undefined;
  const result = work();
  for (const [look, follow] of SETTLE) if (db.run(look).changes > 0) db.run(follow);
  if (had_counts) db.run(CLEAR_COUNTS);
  db.run(SET_COUNTS);
  for (const { sql } of triggers) db.execute(sql as string);
  return result;
}
