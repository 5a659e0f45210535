import type { Merge } from '#contract/attempt.ts';
import {
  decideLandingStart,
  decideMergeEnd,
  decideQueue,
  decideTurn,
  type QueueFacts,
} from '#domain/decide-merge.ts';
import type { KeptMerge } from '#domain/restore-merge.ts';
import type { Loss } from '#domain/run-hold.ts';
import { explainWorkRefusal } from '#domain/work-refusal.ts';
import { toIso } from '#kernel/clock.ts';
import type { MergeEnd, NewLanding, NewMerge, ProcessMark, WatchedMerge } from '../attempt-store.ts';
import { getAttempt } from './attempt-rows.ts';
import type { Database, Row } from './database.ts';
import { findTask } from './report-queries.ts';
import { readHeld } from './run-rows.ts';
import { fromMark, getRow, insertRow, toMark, updateRow, type WorkTransaction } from './work-transaction.ts';

export function queueMerge(tx: WorkTransaction, { attempt_id, watcher, ...wish }: NewMerge): Merge {
  const { db, by } = tx;
  const attempt = getAttempt(db, attempt_id);
  // By idx_merges_task.
  const sql =
    "SELECT id, state FROM merges WHERE task_id = ? AND attempt_id = ? AND state IN ('queued', 'started')";
  const known = db.get(sql, attempt.task_id, attempt.id);
  // The columns of the schema.
  const open = known as Pick<Merge, 'id' | 'state'> | undefined;
  const decision = decideQueue(attempt, open, { wish, now: by.now });
  if (decision.outcome !== 'save') throw explainWorkRefusal(decision);
  const { merge, events } = decision;
  insertMerge(db, { ...merge, watcher, seq: null });
  tx.touch(merge.attempt_id);
  tx.tell(events);
  return merge;
}

export function takeMerge(
  tx: WorkTransaction,
  take: { id: string; watcher: ProcessMark },
): Merge | undefined {
  const turn = findTurn(tx.db, take.id);
  if (turn === undefined) return undefined;
  const { merge, events } = turn;
  updateRow(tx.db, 'merges', merge.id, { state: merge.state, watcher: fromMark(take.watcher) });
  tx.touch(merge.attempt_id);
  tx.tell(events);
  return merge;
}

/** The merge as it begins if it is its turn; undefined where it has to wait, or a process has begun it. */
export function findTurn(db: Database, ref: string) {
  const merge = toMerge(getRow(db, 'merges', ref));
  const decision = decideTurn(merge, readQueue(db, merge.target));
  if (decision.outcome === 'merge_over') throw explainWorkRefusal(decision);
  return decision.outcome === 'save' ? decision : undefined;
}

/** By idx_merges_started and idx_merges_queued. */
function readQueue(db: Database, target: string): QueueFacts {
  const started = "SELECT 1 AS found FROM merges WHERE target = ? AND state = 'started'";
  const queued = "SELECT id FROM merges WHERE target = ? AND state = 'queued' ORDER BY seq LIMIT 1";
  const first = db.get(queued, target)?.id as string | undefined;
  return { busy: db.get(started, target) !== undefined, first };
}

/** Why the task is not to be merged any more; undefined where it stays in its gate until the landing is over. */
export function takeLanding(tx: WorkTransaction, { id, in_state, candidate }: NewLanding): Loss | undefined {
  const { db, by } = tx;
  const merge = toMerge(getRow(db, 'merges', id));
  const decision = decideLandingStart(merge, in_state, readHeld(db, merge.task_id));
  if (decision.outcome === 'lost') return decision.loss;
  if (decision.outcome !== 'lands') throw explainWorkRefusal(decision);
  updateRow(db, 'merges', merge.id, { landing_at: toIso(by.now), candidate });
  return undefined;
}

export function clearLanding({ db }: WorkTransaction, { id }: { readonly id: string }): void {
  updateRow(db, 'merges', id, { landing_at: null });
}

export function finishMerge(tx: WorkTransaction, end: MergeEnd): Merge {
  const { db, by } = tx;
  const decision = decideMergeEnd(toMerge(getRow(db, 'merges', end.id)), end, by.now);
  if (decision.outcome !== 'save') throw explainWorkRefusal(decision);
  const { merge } = decision;
  const { id, state, candidate, message, finished_at } = merge;
  const conflicts = JSON.stringify(merge.conflicts);
  const landing = decision.keeps_landing ? {} : { landing_at: null };
  updateRow(db, 'merges', id, { state, candidate, conflicts, message, finished_at, ...landing });
  tx.touch(merge.attempt_id);
  tx.tell(decision.events);
  return merge;
}

export function listOpenMerges(db: Database): WatchedMerge[] {
  // By idx_merges_started and idx_merges_queued.
  const sql = `SELECT * FROM merges WHERE state = 'started' UNION ALL SELECT * FROM merges WHERE state = 'queued'
    ORDER BY seq`;
  return db.all(sql).map((row) => ({ merge: toMerge(row), watcher: toMark(row.watcher) as ProcessMark })); // never null
}

export function listMerges(db: Database, { task_id }: { task_id: string }): Merge[] {
  const sql = 'SELECT * FROM merges WHERE task_id = ? ORDER BY seq'; // by idx_merges_task
  return db.all(sql, findTask(db, task_id).id).map(toMerge);
}

/** At the end of the queue without a number. */
export function insertMerge(db: Database, merge: Omit<KeptMerge, 'seq'> & { seq: number | null }): void {
  const { conflicts, watcher, ...columns } = merge;
  insertRow(db, 'merges', {
    ...columns,
    conflicts: JSON.stringify(conflicts),
    watcher: fromMark(watcher),
  });
}

export function toKeptMerge(row: Row): KeptMerge {
  return { ...toMerge(row), watcher: toMark(row.watcher) as ProcessMark, seq: row.seq as number }; // never null
}

function toMerge(row: Row): Merge {
  return {
    id: row.id as string,
    task_id: row.task_id as string,
    attempt_id: row.attempt_id as string,
    target: row.target as string,
    strategy: row.strategy as Merge['strategy'],
    state: row.state as Merge['state'],
    head_commit: row.head_commit as string,
    candidate: row.candidate as string | null,
    conflicts: JSON.parse(row.conflicts as string) as Merge['conflicts'], // written above
    message: row.message as string | null,
    queued_at: row.queued_at as string,
    finished_at: row.finished_at as string | null,
  };
}
