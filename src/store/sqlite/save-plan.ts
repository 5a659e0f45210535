import { decideSeen, type Seen } from '#domain/decide-seen.ts';
import type { Deciding, SeenTask, TaskPlan } from '#domain/task-plan.ts';
import { explainTaskRefusal, type TaskRefusal } from '#domain/task-refusal.ts';
import { listBlockers } from './ready-queries.ts';
import type { StoredRecord } from './record-rows.ts';
import type { Saved, WriteTransaction } from './write-transaction.ts';

type Numbered = Pick<StoredRecord, 'record' | 'version' | 'fence'>;

/** The task as a decision wants it. */
export function toSeen({ record, version, fence }: Numbered): SeenTask {
  return { record, version, fence };
}

export function toDeciding({ db, by }: Pick<WriteTransaction, 'db' | 'by'>): Deciding {
  return { actor: by.actor, now: by.now, workflow: db.workflow };
}

/** Writes what was decided; throws where that is a refusal. */
export function savePlan(
  tx: WriteTransaction,
  before: StoredRecord,
  decision: TaskPlan | TaskRefusal,
): Saved {
  if (decision.outcome !== 'save') throw toError(tx, before, decision);
  return tx.save(before, decision.after, decision.happening);
}

export function toError(tx: Pick<WriteTransaction, 'db'>, before: Numbered, refusal: TaskRefusal): Error {
  const blockers = refusal.outcome === 'blocked' ? listBlockers(tx.db, before.record.id) : [];
  return explainTaskRefusal(toSeen(before), refusal, { blockers });
}

/** Throws version_conflict or fence_conflict where the task is no longer the one that the caller saw. */
export function checkSeen(tx: Pick<WriteTransaction, 'db'>, stored: Numbered, seen: Seen): void {
  const other = decideSeen(toSeen(stored), seen);
  if (other !== undefined) throw toError(tx, stored, other);
}
