import type { AttemptRecord } from '#contract/attempt-record.ts';
import type { Merge } from '#contract/attempt.ts';
import { decideLandingStart, decideMergeEnd, decideQueue, decideTurn } from '#domain/decide-merge.ts';
import { findLoss, type Loss } from '#domain/run-hold.ts';
import { explainWorkRefusal } from '#domain/work-refusal.ts';
import { toIso } from '#kernel/clock.ts';
import type { MergeEnd, NewLanding, NewMerge, ProcessMark, WatchedMerge } from '../attempt-store.ts';
import { getAttempt } from './attempt-rows.ts';
import type { Database, Row } from './database.ts';
import { findTask } from './report-queries.ts';
import { readHeld } from './run-rows.ts';
import {
  fromMark,
  getRow,
  insertRow,
  refuse,
  toMark,
  updateRow,
  type WorkTransaction,
} from './work-transaction.ts';

export type KeptMerge = AttemptRecord['merges'][number];

export function queueMerge(tx: WorkTransaction, wanted: NewMerge): Merge {
  const { db, by } = tx;
  const { id: attempt_id, task_id } = getAttempt(db, wanted.attempt_id);
  // By idx_merges_task.
  const sql =
    "SELECT id, state FROM merges WHERE task_id = ? AND attempt_id = ? AND state IN ('queued', 'started')";
  const known = db.get(sql, task_id, attempt_id);
  // The columns of the schema.
  refuse(decideQueue({ task_id, attempt_id }, known as Pick<Merge, 'id' | 'state'> | undefined));
  const merge: Merge = {
    id: wanted.id,
    task_id,
    attempt_id,
    target: wanted.target,
    strategy: wanted.strategy,
    state: 'queued',
    head_commit: wanted.head_commit,
    candidate: null,
    conflicts: [],
    message: null,
    queued_at: toIso(by.now),
    finished_at: null,
  };
  insertMerge(db, { ...merge, watcher: wanted.watcher, seq: null });
  tx.touch(attempt_id);
  tx.tell('merge.queued', task_id, { merge });
  return merge;
}

export function takeMerge(
  tx: WorkTransaction,
  take: { id: string; watcher: ProcessMark },
): Merge | undefined {
  const next = findNext(tx.db, take.id);
  if (next === undefined) return undefined;
  const merge: Merge = { ...next, state: 'started' };
  updateRow(tx.db, 'merges', merge.id, { state: 'started', watcher: fromMark(take.watcher) });
  tx.touch(merge.attempt_id);
  tx.tell('merge.started', merge.task_id, { merge });
  return merge;
}

/** The merge if it is its turn; undefined where it has to wait, or somebody has begun it. */
export function findNext(db: Database, ref: string): Merge | undefined {
  const merge = toMerge(getRow(db, 'merges', ref));
  const turn = decideTurn(merge);
  if (turn.outcome === 'merge_over') throw explainWorkRefusal(turn);
  if (turn.outcome === 'begun') return undefined;
  // By idx_merges_started and idx_merges_queued.
  const first = db.get(
    `SELECT id FROM merges WHERE target = ?1 AND state = 'queued'
      AND NOT EXISTS (SELECT 1 FROM merges WHERE target = ?1 AND state = 'started') ORDER BY seq LIMIT 1`,
    merge.target,
  );
  return first?.id === merge.id ? merge : undefined;
}

/** Why the task is not to be merged any more; undefined where it stays in its gate until the landing is over. */
export function takeLanding(tx: WorkTransaction, { id, in_state, candidate }: NewLanding): Loss | undefined {
  const { db, by } = tx;
  const merge = toMerge(getRow(db, 'merges', id));
  refuse(decideLandingStart(merge));
  // Whose task it is does not matter to a merge: where it stands does.
  const loss = findLoss({ task_id: merge.task_id, fence: null, in_state }, readHeld(db, merge.task_id));
  if (loss === undefined) updateRow(db, 'merges', id, { landing_at: toIso(by.now), candidate });
  return loss;
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
  tx.tell('merge.finished', merge.task_id, { merge });
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
