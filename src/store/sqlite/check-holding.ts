import { decideHolding } from '#domain/decide-holding.ts';
import type { Holding } from '#domain/task-holding.ts';
import type { Database } from './database.ts';
import { readRecord } from './record-rows.ts';
import { resolveTaskId } from './resolve-id.ts';
import { toError } from './save-plan.ts';

/** Throws permission_denied where the task is not the agent's, as this transaction sees it. */
export function checkHolding(db: Database, holding: Holding): void {
  const stored = readRecord(db, resolveTaskId(db, holding.id));
  if (stored === undefined) return; // the write says what is wrong
  const refusal = decideHolding(stored.record, holding);
  if (refusal !== undefined) throw toError({ db }, stored, refusal);
}
