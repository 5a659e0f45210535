import type { Database } from './database.ts';

const RECOUNT = `UPDATE tasks SET open_blockers = counted.n FROM (
    SELECT t.id AS id,
      (SELECT count(*) FROM dependencies d JOIN tasks b ON b.id = d.to_id
        WHERE d.from_id = t.id AND d.dep_type = 'blocks' AND b.status <> 'closed')
      + (SELECT count(*) FROM unresolved_dependencies u
        WHERE u.from_id = t.id AND u.dep_type = 'blocks' AND u.closed = 0) AS n
    FROM tasks t) AS counted
  WHERE counted.id = tasks.id AND counted.n <> tasks.open_blockers`;

/**
 * Inside a transaction: many writes without counting blockers after each of them, and one count at the end. The
 * triggers come back with the commit, or with the rollback.
 */
export function writeInBulk<T>(db: Database, work: () => T): T {
  const triggers = db.all("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'");
  for (const { name } of triggers) db.execute(`DROP TRIGGER "${String(name)}"`);
  const result = work();
  db.execute(RECOUNT);
  for (const { sql } of triggers) db.execute(sql as string);
  return result;
}
