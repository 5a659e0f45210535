import { decideLanding, isTakenAway, type LandingFacts } from '#domain/decide-landing.ts';
import type { TaskRecord } from '#domain/task-record.ts';
import type { Database } from './database.ts';
import type { StoredRecord } from './record-rows.ts';
import { toDeciding, toError } from './save-plan.ts';
import type { WriteTransaction } from './write-transaction.ts';

/** Throws while a merge of the task is about to move its target, for which the store waits. */
export function checkLanding(
  tx: Pick<WriteTransaction, 'db' | 'by'>,
  before: StoredRecord,
  after: TaskRecord | undefined,
): void {
  if (!isTakenAway(before.record, after)) return;
  const merge = readLanding(tx.db, before.record.id);
  if (merge === undefined) return;
  const decision = decideLanding(merge, toDeciding(tx));
  if (decision.outcome !== 'settled') throw toError(tx, before, decision);
  tx.db.run('UPDATE merges SET landing_at = NULL WHERE id = ?', merge.id);
}

/** By idx_merges_landing, which is empty nearly always. */
function readLanding(db: Database, taskId: string): LandingFacts | undefined {
  const sql = 'SELECT id, state, finished_at FROM merges WHERE task_id = ? AND landing_at IS NOT NULL';
  const row = db.get(sql, taskId);
  if (row === undefined) return undefined;
  return {
    id: row.id as string,
    landed: row.state === 'landed',
    finished_at: row.finished_at as string | null,
  };
}
