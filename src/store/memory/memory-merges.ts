import type { Merge } from '#contract/attempt.ts';
import type { LandingFacts } from '#domain/decide-landing.ts';
import { decideLandingStart, decideMergeEnd, decideQueue, decideTurn } from '#domain/decide-merge.ts';
import type { Loss } from '#domain/run-hold.ts';
import { explainWorkRefusal } from '#domain/work-refusal.ts';
import { toIso } from '#kernel/clock.ts';
import type { MergeEnd, NewLanding, NewMerge, ProcessMark, WatchedMerge } from '../attempt-store.ts';
import { getAttempt } from './memory-attempts.ts';
import { findTask } from './memory-ids.ts';
import type { MemoryTables, MergeRow } from './memory-tables.ts';
import type { MemoryTransaction } from './memory-transaction.ts';
import { readHeld, resolveWorkId, tellAll } from './memory-work.ts';

export function queueMerge(tx: MemoryTransaction, { attempt_id, watcher, ...wish }: NewMerge): Merge {
  const { tables, by } = tx;
  const attempt = getAttempt(tables, attempt_id);
  const known = listOpen(tables).find(({ merge }) => merge.attempt_id === attempt.id)?.merge;
  const decision = decideQueue(attempt, known, { wish, now: by.now });
  if (decision.outcome !== 'save') throw explainWorkRefusal(decision);
  const { merge, events } = decision;
  const seq = Math.max(0, ...tables.merges.list().map((row) => row.seq)) + 1;
  tables.merges.set(merge.id, { seq, merge, watcher, landing_at: null });
  tellAll(tx, events);
  return merge;
}

export function takeMerge(
  tx: MemoryTransaction,
  { id, watcher }: { id: string; watcher: ProcessMark },
): Merge | undefined {
  const turn = findTurn(tx.tables, id);
  if (turn === undefined) return undefined;
  const { merge, events } = turn;
  tx.tables.merges.set(merge.id, { ...getRow(tx.tables, merge.id), merge, watcher });
  tellAll(tx, events);
  return merge;
}

/** The merge as it begins if it is its turn; undefined where it has to wait, or a process has begun it. */
export function findTurn(tables: MemoryTables, ref: string) {
  const { merge } = getRow(tables, ref);
  const queue = listOpen(tables).filter((other) => other.merge.target === merge.target);
  const busy = queue.some((other) => other.merge.state === 'started');
  const first = queue.find((other) => other.merge.state === 'queued')?.merge.id;
  const decision = decideTurn(merge, { busy, first });
  if (decision.outcome === 'merge_over') throw explainWorkRefusal(decision);
  return decision.outcome === 'save' ? decision : undefined;
}

export function takeLanding(tx: MemoryTransaction, landing: NewLanding): Loss | undefined {
  const { tables, by } = tx;
  const { id, in_state, candidate } = landing;
  const row = getRow(tables, id);
  const decision = decideLandingStart(row.merge, in_state, readHeld(tables, row.merge.task_id));
  if (decision.outcome === 'lost') return decision.loss;
  if (decision.outcome !== 'lands') throw explainWorkRefusal(decision);
  tables.merges.set(row.merge.id, { ...row, merge: { ...row.merge, candidate }, landing_at: toIso(by.now) });
  return undefined;
}

/** By a whole id; nothing where there is none. */
export function clearLanding({ tables }: MemoryTransaction, { id }: { readonly id: string }): void {
  const row = tables.merges.get(id);
  if (row !== undefined) tables.merges.set(id, { ...row, landing_at: null });
}

/** The merge of a task that is about to move its target, or has just moved it. */
export function readLanding({ merges }: MemoryTables, taskId: string): LandingFacts | undefined {
  const row = merges.list().find(({ merge, landing_at }) => merge.task_id === taskId && landing_at !== null);
  if (row === undefined) return undefined;
  const { id, state, finished_at } = row.merge;
  return { id, landed: state === 'landed', finished_at };
}

export function finishMerge(tx: MemoryTransaction, end: MergeEnd): Merge {
  const { tables, by } = tx;
  const row = getRow(tables, end.id);
  const decision = decideMergeEnd(row.merge, end, by.now);
  if (decision.outcome !== 'save') throw explainWorkRefusal(decision);
  const { merge, events, keeps_landing } = decision;
  tables.merges.set(merge.id, { ...row, merge, landing_at: keeps_landing ? row.landing_at : null });
  tellAll(tx, events);
  return merge;
}

export function listOpenMerges(tables: MemoryTables): WatchedMerge[] {
  return listOpen(tables).map(({ merge, watcher }) => ({ merge, watcher }));
}

export function listMerges(tables: MemoryTables, query: { task_id: string }): Merge[] {
  const { id } = findTask(tables, query.task_id);
  const found = inOrder(tables).map(({ merge }) => merge);
  return found.filter(({ task_id }) => task_id === id);
}

function listOpen(tables: MemoryTables): MergeRow[] {
  return inOrder(tables).filter(({ merge }) => merge.state === 'queued' || merge.state === 'started');
}

function inOrder({ merges }: MemoryTables): MergeRow[] {
  return merges.list().sort((a, b) => a.seq - b.seq);
}

function getRow(tables: MemoryTables, ref: string): MergeRow {
  return tables.merges.get(resolveWorkId(tables, 'merges', ref)) as MergeRow; // it was found
}
