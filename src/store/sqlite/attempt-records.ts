import type { AttemptRecord } from '#contract/attempt-record.ts';
import { restoreMerge, type KeptMerge, type Rival } from '#domain/restore-merge.ts';
import { isForgeError } from '#kernel/errors.ts';
import { insertApproval, listWaiting, toApproval } from './approval-rows.ts';
import { insertAttempt, toAttempt } from './attempt-rows.ts';
import type { Database, Row } from './database.ts';
import { insertMerge, toKeptMerge } from './merge-rows.ts';
import { insertReview, toKeptReview } from './review-rows.ts';
import { insertRun, toKeptRun } from './run-rows.ts';
import { insertRow, updateRow } from './work-transaction.ts';

/** Undefined where there is no such attempt. */
export function readAttemptRecord(db: Database, id: string): AttemptRecord | undefined {
  const row = db.get('SELECT * FROM attempts WHERE id = ?', id);
  if (row === undefined) return undefined;
  // By idx_runs_attempt, and by the indexes of the task where there is none of the attempt.
  const ofAttempt = (sql: string): Row[] => db.all(sql, id);
  const ofTask = (sql: string): Row[] => db.all(sql, row.task_id as string, id);
  return {
    schema: 1,
    revision: row.revision as number,
    attempt: toAttempt(row),
    runs: ofAttempt('SELECT * FROM runs WHERE attempt_id = ? ORDER BY created_at, rowid').map(toKeptRun),
    reviews: ofTask('SELECT * FROM reviews WHERE task_id = ? AND attempt_id = ? ORDER BY attempt_number').map(
      toKeptReview,
    ),
    merges: ofTask('SELECT * FROM merges WHERE task_id = ? AND attempt_id = ? ORDER BY seq').map(toKeptMerge),
    approvals: ofAttempt(
      `SELECT a.* FROM runs r JOIN approvals a ON a.run_id = r.id WHERE r.attempt_id = ?
        ORDER BY a.asked_at, a.rowid`,
    ).map(toApproval),
    messages: listWaiting(db, id).map(({ body, author, created_at }) => ({ body, author, created_at })),
  };
}

/** 0 where there is no such attempt. */
export function readRevision(db: Database, id: string): number {
  return Number(db.get('SELECT revision FROM attempts WHERE id = ?', id)?.revision ?? 0);
}

export type RestoreOutcome = 'restored' | 'known' | { readonly problem: string };

/** The rows of a record where it is newer than they are: all of them, or none when one cannot be. */
export function restoreRecord(db: Database, record: AttemptRecord, now: string): RestoreOutcome {
  if (readRevision(db, record.attempt.id) >= record.revision) return 'known';
  db.run('SAVEPOINT record');
  try {
    removeRows(db, record.attempt.id);
    insertRows(db, record, now);
    return 'restored';
  } catch (error) {
    // A record that does not fit beside another one; what is wrong with the database itself is thrown.
    if (isForgeError(error) || !isConstraint(error)) throw error;
    db.run('ROLLBACK TO record');
    return { problem: error.message };
  } finally {
    if (db.isInTransaction()) db.run('RELEASE record');
  }
}

function isConstraint(error: unknown): error is Error {
  return error instanceof Error && /constraint failed/.test(error.message);
}

function removeRows(db: Database, id: string): void {
  db.run('DELETE FROM approvals WHERE run_id IN (SELECT id FROM runs WHERE attempt_id = ?)', id);
  for (const table of ['run_messages', 'merges', 'reviews', 'runs'])
    db.run(`DELETE FROM ${table} WHERE attempt_id = ?`, id);
  db.run('DELETE FROM attempts WHERE id = ?', id);
}

function insertRows(db: Database, record: AttemptRecord, now: string): void {
  const { attempt, revision } = record;
  insertAttempt(db, attempt, revision);
  for (const run of record.runs) insertRun(db, run);
  for (const review of record.reviews) insertReview(db, review);
  for (const merge of record.merges) insertKnownMerge(db, merge, now);
  for (const approval of record.approvals) insertApproval(db, approval);
  for (const message of record.messages)
    insertRow(db, 'run_messages', { ...message, attempt_id: attempt.id });
}

/** By idx_merges_started and the index of the places. */
function insertKnownMerge(db: Database, kept: KeptMerge, now: string): void {
  const rival = db.get("SELECT id, seq FROM merges WHERE target = ? AND state = 'started'", kept.target);
  const is_taken = db.get('SELECT 1 AS taken FROM merges WHERE seq = ?', kept.seq) !== undefined;
  // The columns of the schema.
  const { merge, ended } = restoreMerge(kept, { rival: rival as Rival | undefined, is_taken }, now);
  if (ended !== undefined) updateRow(db, 'merges', rival?.id as string, ended);
  insertMerge(db, merge);
}
