import type { AlwaysRule, Approval } from '#contract/attempt.ts';
import { toTriggeredBy } from '#domain/actor.ts';
import { decideAnswer, decideAsk, EXPIRED, forgetStanding, type Answering } from '#domain/decide-approval.ts';
import type { KeptRun } from '#domain/decide-run.ts';
import { planMessage } from '#domain/plan-message.ts';
import { explainWorkRefusal } from '#domain/work-refusal.ts';
import { toIso } from '#kernel/clock.ts';
import { readJson } from '#kernel/read-json.ts';
import type { ApprovalAnswer, ApprovalQuery, NewApproval, WaitingMessage } from '../attempt-store.ts';
import { getAttempt } from './attempt-rows.ts';
import type { Database, Row } from './database.ts';
import { getRow, insertRow, toWhere, updateRow, type WorkTransaction } from './work-transaction.ts';

/** What a run and people have to say to each other: requests for leave, and messages. */

export function askApproval(tx: WorkTransaction, { run_id, ...wish }: NewApproval): Approval {
  const row = getRow(tx.db, 'runs', run_id);
  // The columns of the schema.
  const run = row as Pick<KeptRun, 'id' | 'task_id' | 'attempt_id' | 'state' | 'ended_at'>;
  const decision = decideAsk(run, wish, tx.by.now);
  if (decision.outcome !== 'save') throw explainWorkRefusal(decision);
  const { approval, events } = decision;
  insertApproval(tx.db, approval);
  tx.touch(run.attempt_id);
  tx.tell(events);
  return approval;
}

export function answerApproval(tx: WorkTransaction, answer: ApprovalAnswer): Approval {
  const before = toApproval(getRow(tx.db, 'approvals', answer.id));
  return settle(tx, before, answer);
}

/** Of a run that has ended. */
export function expireApprovals(tx: WorkTransaction, { id }: Pick<KeptRun, 'id'>): void {
  for (const approval of listApprovals(tx.db, { run_id: id, pending: true })) settle(tx, approval, EXPIRED);
}

/** By run: idx_approvals_run; those that wait: idx_approvals_pending; what is allowed for good: idx_approvals_always. */
export function listApprovals(db: Database, query: ApprovalQuery): Approval[] {
  const { run_id, pending, task_id, always } = query;
  const { where, values } = toWhere([
    run_id === undefined ? undefined : ['run_id = ?', getRow(db, 'runs', run_id).id as string],
    pending === undefined ? undefined : [`state ${pending ? '=' : '<>'} 'pending'`],
    task_id === undefined ? undefined : ['task_id = ?', task_id],
    always === undefined ? undefined : ['always IS NOT NULL AND forgotten_at IS NULL'],
  ]);
  return db.all(`SELECT * FROM approvals ${where} ORDER BY asked_at, rowid`, ...values).map(toApproval);
}

export function forgetApprovals(
  tx: WorkTransaction,
  { task_id, id }: { task_id: string; id?: string | undefined },
): Approval[] {
  const plans = forgetStanding(listApprovals(tx.db, { task_id, always: true }), id, tx.by.now);
  for (const { approval, events } of plans) {
    updateRow(tx.db, 'approvals', approval.id, { forgotten_at: approval.forgotten_at });
    touchRun(tx, approval);
    tx.tell(events);
  }
  return plans.map(({ approval }) => approval);
}

export function insertApproval(db: Database, approval: Approval): void {
  const { input, paths, always } = approval;
  insertRow(db, 'approvals', {
    ...approval,
    input: JSON.stringify(input ?? null),
    paths: JSON.stringify(paths),
    always: always === null ? null : JSON.stringify(always),
  });
}

export function toApproval(row: Row): Approval {
  return {
    id: row.id as string,
    run_id: row.run_id as string,
    task_id: row.task_id as string,
    tool: row.tool as string,
    input: readJson(row.input as string) as unknown,
    command: row.command as string | null,
    paths: readJson(row.paths as string) as string[],
    state: row.state as Approval['state'],
    asked_at: row.asked_at as string,
    answered_at: row.answered_at as string | null,
    answered_by: row.answered_by as string | null,
    reason: row.reason as string | null,
    always: row.always === null ? null : (readJson(row.always as string) as AlwaysRule),
    forgotten_at: row.forgotten_at as string | null,
  };
}

export function addMessage(tx: WorkTransaction, message: { attempt_id: string; body: string }): void {
  const attempt = getAttempt(tx.db, message.attempt_id);
  const { actor, now } = tx.by;
  const plan = planMessage(attempt, message.body, { author: actor.name, now });
  insertRow(tx.db, 'run_messages', { ...plan.message });
  tx.touch(attempt.id);
  tx.tell(plan.events);
}

export function takeMessages(
  tx: WorkTransaction,
  query: { attempt_id: string; now: number },
): WaitingMessage[] {
  const waiting = listMessages(tx.db, query);
  for (const { seq } of waiting) noteDelivered(tx, { seq, now: query.now });
  return waiting;
}

export function noteDelivered(tx: WorkTransaction, { seq, now }: { seq: number; now: number }): void {
  const { db } = tx;
  const row = db.get('SELECT attempt_id FROM run_messages WHERE seq = ? AND delivered_at IS NULL', seq);
  if (row === undefined) return;
  db.run('UPDATE run_messages SET delivered_at = ? WHERE seq = ?', toIso(now), seq);
  tx.touch(row.attempt_id as string);
}

export function listMessages(db: Database, query: { attempt_id: string }): WaitingMessage[] {
  return listWaiting(db, getAttempt(db, query.attempt_id).id);
}

/** By the whole id. Uses idx_run_messages_waiting. */
export function hasWaiting(db: Database, attemptId: string): boolean {
  const sql = 'SELECT 1 AS found FROM run_messages WHERE attempt_id = ? AND delivered_at IS NULL LIMIT 1';
  return db.get(sql, attemptId) !== undefined;
}

/** Uses idx_run_messages_waiting. */
export function listWaiting(db: Database, attemptId: string): WaitingMessage[] {
  const sql = `SELECT seq, body, author, created_at FROM run_messages
    WHERE attempt_id = ? AND delivered_at IS NULL ORDER BY seq`;
  return db.all(sql, attemptId).map((row) => ({
    seq: row.seq as number,
    body: row.body as string,
    author: row.author as string,
    created_at: row.created_at as string,
  }));
}

function settle(tx: WorkTransaction, before: Approval, answer: Answering): Approval {
  const { db, by } = tx;
  const decision = decideAnswer(before, answer, { by: toTriggeredBy(by.actor), now: by.now });
  if (decision.outcome !== 'save') throw explainWorkRefusal(decision);
  const { approval, events } = decision;
  const { state, answered_at, answered_by, reason, always } = approval;
  const kept = always === null ? null : JSON.stringify(always);
  updateRow(db, 'approvals', approval.id, { state, answered_at, answered_by, reason, always: kept });
  touchRun(tx, approval);
  tx.tell(events);
  return approval;
}

function touchRun(tx: WorkTransaction, { run_id }: Pick<Approval, 'run_id'>): void {
  tx.touch(getRow(tx.db, 'runs', run_id).attempt_id as string);
}
