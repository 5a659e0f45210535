import { decideSeen, type Seen } from '#domain/decide-seen.ts';
import type { Deciding, SeenTask, TaskPlan } from '#domain/task-plan.ts';
import { explainTaskRefusal, type TaskRefusal } from '#domain/task-refusal.ts';
import { listBlockers } from './memory-rows.ts';
import type { MemoryTables, TaskRow } from './memory-tables.ts';
import { workflowOf } from './memory-workflow.ts';
import type { MemoryTransaction, Saved } from './memory-transaction.ts';

/** The task as a decision wants it. */
export function toSeen({ record, version, fence }: TaskRow): SeenTask {
  return { record, version, fence };
}

export function toDeciding({ tables, by }: Pick<MemoryTransaction, 'tables' | 'by'>): Deciding {
  return { actor: by.actor, now: by.now, workflow: workflowOf(tables) };
}

export function toError(tables: MemoryTables, before: TaskRow, refusal: TaskRefusal): Error {
  const blockers = refusal.outcome === 'blocked' ? listBlockers(tables, before.record) : [];
  return explainTaskRefusal(toSeen(before), refusal, { blockers });
}

/** Writes what was decided; throws where that is a refusal. */
export function savePlan(tx: MemoryTransaction, before: TaskRow, decision: TaskPlan | TaskRefusal): Saved {
  if (decision.outcome !== 'save') throw toError(tx.tables, before, decision);
  return tx.save(before, decision.after, decision.happening);
}

/** Throws version_conflict or fence_conflict where the task is no longer the one that the caller saw. */
export function checkSeen(tables: MemoryTables, before: TaskRow, seen: Seen): void {
  const other = decideSeen(toSeen(before), seen);
  if (other !== undefined) throw toError(tables, before, other);
}
