import type { Approval } from '#contract/attempt.ts';
import { toTriggeredBy } from '#domain/actor.ts';
import {
  decideAnswer,
  decideAsk,
  EXPIRED,
  forgetStanding,
  isStanding,
  type Answering,
} from '#domain/decide-approval.ts';
import type { KeptRun } from '#domain/decide-run.ts';
import { planMessage } from '#domain/plan-message.ts';
import { explainWorkRefusal } from '#domain/work-refusal.ts';
import { toIso } from '#kernel/clock.ts';
import type { ApprovalAnswer, ApprovalQuery, NewApproval, WaitingMessage } from '../attempt-store.ts';
import { getAttempt } from './memory-attempts.ts';
import type { MemoryTables, MessageRow } from './memory-tables.ts';
import type { MemoryTransaction } from './memory-transaction.ts';
import { resolveWorkId, sortByTime, tellAll } from './memory-work.ts';

/** What a run and people have to say to each other: requests for leave, and messages. */

export function askApproval(tx: MemoryTransaction, { run_id, ...wish }: NewApproval): Approval {
  const { tables, by } = tx;
  const run = tables.runs.get(resolveWorkId(tables, 'runs', run_id)) as KeptRun; // it was found
  const decision = decideAsk(run, wish, by.now);
  if (decision.outcome !== 'save') throw explainWorkRefusal(decision);
  tables.approvals.set(decision.approval.id, decision.approval);
  tellAll(tx, decision.events);
  return decision.approval;
}

export function answerApproval(tx: MemoryTransaction, answer: ApprovalAnswer): Approval {
  const { tables } = tx;
  const before = tables.approvals.get(resolveWorkId(tables, 'approvals', answer.id)) as Approval; // it was found
  return settle(tx, before, answer);
}

/** Of a run that has ended. */
export function expireApprovals(tx: MemoryTransaction, { id }: Pick<KeptRun, 'id'>): void {
  for (const approval of listApprovals(tx.tables, { run_id: id, pending: true }))
    settle(tx, approval, EXPIRED);
}

export function listApprovals(tables: MemoryTables, query: ApprovalQuery): Approval[] {
  const { pending, task_id, always } = query;
  const run_id = query.run_id === undefined ? undefined : resolveWorkId(tables, 'runs', query.run_id);
  const found = tables.approvals
    .list()
    .filter(
      (one) =>
        (run_id === undefined || one.run_id === run_id) &&
        (pending === undefined || (one.state === 'pending') === pending) &&
        (task_id === undefined || one.task_id === task_id) &&
        (always === undefined || isStanding(one)),
    );
  return sortByTime(found, ({ asked_at }) => asked_at);
}

export function forgetApprovals(
  tx: MemoryTransaction,
  { task_id, id }: { task_id: string; id?: string | undefined },
): Approval[] {
  const { tables, by } = tx;
  const plans = forgetStanding(listApprovals(tables, { task_id }), id, by.now);
  for (const { approval, events } of plans) {
    tables.approvals.set(approval.id, approval);
    tellAll(tx, events);
  }
  return plans.map(({ approval }) => approval);
}

function settle(tx: MemoryTransaction, before: Approval, answer: Answering): Approval {
  const { tables, by } = tx;
  const decision = decideAnswer(before, answer, { by: toTriggeredBy(by.actor), now: by.now });
  if (decision.outcome !== 'save') throw explainWorkRefusal(decision);
  tables.approvals.set(decision.approval.id, decision.approval);
  tellAll(tx, decision.events);
  return decision.approval;
}

export function addMessage(
  tx: MemoryTransaction,
  { attempt_id, body }: { attempt_id: string; body: string },
): void {
  const { tables, by } = tx;
  const attempt = getAttempt(tables, attempt_id);
  const { message, events } = planMessage(attempt, body, { author: by.actor.name, now: by.now });
  const seq = Math.max(0, ...tables.messages.keys()) + 1;
  tables.messages.set(seq, { seq, ...message, delivered_at: null });
  tellAll(tx, events);
}

export function listMessages(tables: MemoryTables, query: { attempt_id: string }): WaitingMessage[] {
  const { id } = getAttempt(tables, query.attempt_id);
  return tables.messages
    .list()
    .filter((one) => one.attempt_id === id && one.delivered_at === null)
    .sort((a, b) => a.seq - b.seq)
    .map(showMessage);
}

export function noteDelivered(
  { tables }: MemoryTransaction,
  { seq, now }: { seq: number; now: number },
): void {
  const message = tables.messages.get(seq);
  if (message === undefined || message.delivered_at !== null) return;
  tables.messages.set(seq, { ...message, delivered_at: toIso(now) });
}

export function takeMessages(
  tx: MemoryTransaction,
  query: { attempt_id: string; now: number },
): WaitingMessage[] {
  const waiting = listMessages(tx.tables, query);
  for (const { seq } of waiting) noteDelivered(tx, { seq, now: query.now });
  return waiting;
}

function showMessage({ seq, body, author, created_at }: MessageRow): WaitingMessage {
  return { seq, body, author, created_at };
}
