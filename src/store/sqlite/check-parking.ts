import { keptParked } from '#domain/explain-refusal.ts';
import type { TaskRecord } from '#domain/task-record.ts';
import { isParked } from '#domain/workflow.ts';
import { workflowOf } from './claim-facts.ts';
import type { WriteTransaction } from './write-transaction.ts';

/**
 * Throws permission_denied where an agent reopens a task that was closed while it was parked: closing and reopening it
 * would put it into the queue, which only people do.
 */
export function checkReopening(tx: WriteTransaction, { id }: TaskRecord): void {
  if (tx.by.actor.kind !== 'agent') return;
  const sql = `SELECT from_state FROM transitions WHERE task_id = ? AND to_status = 'closed'
    ORDER BY created_at DESC LIMIT 1`;
  const from = tx.db.get(sql, id)?.from_state;
  if (typeof from === 'string' && isParked(workflowOf(tx), from)) throw keptParked({ id, state: from });
}
