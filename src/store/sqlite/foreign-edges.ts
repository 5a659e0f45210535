import { LIMITS } from '#kernel/limits.ts';
import type { ForeignEdge } from '../store.ts';
import type { Database } from './database.ts';

/**
 * Dependencies on tasks that are not in this store. What another project says about them is kept in `closed`, from
 * which the triggers count; it is no part of a record, so neither the replica nor the version knows of it.
 */

/** Walks idx_unresolved_to_id as far as the limit; in most projects the table is empty. */
export function listForeign(db: Database): ForeignEdge[] {
  const sql = `SELECT to_id AS id, min(closed) AS closed, max(dep_type = 'blocks') AS blocks
    FROM unresolved_dependencies GROUP BY to_id ORDER BY to_id LIMIT ${LIMITS.foreign_tasks}`;
  return db
    .all(sql)
    .map((row) => ({ id: row.id as string, closed: row.closed === 1, blocks: row.blocks === 1 }));
}

/** Under the write lock; rows that say the same already are not touched. */
export function markForeign(db: Database, closed: ReadonlyMap<string, boolean>): void {
  const update = 'UPDATE unresolved_dependencies SET closed = ?1 WHERE to_id = ?2 AND closed <> ?1';
  db.write(() => {
    for (const [id, is] of closed) db.run(update, is ? 1 : 0, id);
  });
}

/** By primary key; a deleted task is still this store's. */
export function holdsTask(db: Database, id: string): boolean {
  const sql =
    'SELECT 1 AS found FROM tasks WHERE id = ?1 UNION ALL SELECT 1 FROM deleted_tasks WHERE id = ?1';
  return db.get(sql, id) !== undefined;
}
