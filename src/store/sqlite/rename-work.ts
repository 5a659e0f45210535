import type { Database } from './database.ts';
import { renameOwnRuns } from './own-values.ts';

const TABLES = ['attempts', 'runs', 'reviews', 'merges', 'approvals', 'task_watchers'];

/** A task that was told apart from another goes on under a new name, and what was done for it goes with it. */
export function renameWork(db: Database, from: string, to: string): void {
  db.run('UPDATE attempts SET revision = revision + 1 WHERE task_id = ?', from);
  for (const table of TABLES) db.run(`UPDATE ${table} SET task_id = ? WHERE task_id = ?`, to, from);
  renameOwnRuns(db, from, to);
}
