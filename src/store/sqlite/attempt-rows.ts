import type { AttemptRecord } from '#contract/attempt-record.ts';
import type { Attempt } from '#contract/attempt.ts';
import { decideAttemptChange, decideAttemptStart } from '#domain/decide-attempt.ts';
import { explainWorkRefusal } from '#domain/work-refusal.ts';
import { toIso } from '#kernel/clock.ts';
import { ForgeError } from '#kernel/errors.ts';
import type { AttemptChange, AttemptQuery, NewAttempt } from '../attempt-store.ts';
import type { Database, Row } from './database.ts';
import { findTask } from './report-queries.ts';
import { resolveTaskId } from './resolve-id.ts';
import { checkSeen } from './save-plan.ts';
import { getRow, insertRow, refuse, toWhere, updateRow, type WorkTransaction } from './work-transaction.ts';

export function startAttempt(tx: WorkTransaction, wanted: NewAttempt): Attempt {
  const { db, by } = tx;
  const task = tx.read(resolveTaskId(db, wanted.task_id));
  const { id: task_id, life } = task.record;
  checkSeen(tx, task, { fence: wanted.fence });
  refuse(decideAttemptStart({ ...life, id: task_id }));
  refuseTakenName(db, wanted);
  refuseTakenPort(db, wanted);
  const newest = Number(db.get('SELECT max(number) AS n FROM attempts WHERE task_id = ?', task_id)?.n ?? 0);
  const { id, name, path, target, base_commit, agent, port, pick = null } = wanted;
  const attempt: Attempt = {
    id,
    task_id,
    number: newest + 1,
    name,
    branch: toBranch(name),
    path,
    target,
    base_commit,
    head_commit: null,
    agent,
    state: 'active',
    port,
    pick,
    strayed: null,
    merge_commit: null,
    created_at: toIso(by.now),
    finished_at: null,
    cleanup_at: null,
    removed_at: null,
  };
  insertAttempt(db, attempt, 0);
  tx.touch(id);
  tx.tell('attempt.started', task_id, { attempt });
  return attempt;
}

export function changeAttempt(tx: WorkTransaction, { id: ref, ...wished }: AttemptChange): Attempt {
  const { db, by } = tx;
  const before = getAttempt(db, ref);
  const decision = decideAttemptChange(before, wished, by.now);
  if (decision.outcome === 'unchanged') return before;
  if (decision.outcome !== 'save') throw explainWorkRefusal(decision);
  const { attempt, events } = decision;
  if (decision.takes_port) refuseTakenPort(db, attempt);
  const { id, task_id, head_commit, agent, state, port, merge_commit, pick, strayed } = attempt;
  const { finished_at, cleanup_at, removed_at } = attempt;
  const times = { finished_at, cleanup_at, removed_at };
  updateRow(db, 'attempts', id, { head_commit, agent, state, port, merge_commit, pick, strayed, ...times });
  tx.touch(id);
  for (const event of events) tx.tell(event, task_id, { attempt });
  return attempt;
}

/** By its id or the beginning of it, or by its whole name. */
export function getAttempt(db: Database, ref: string): Attempt {
  const named = db.get('SELECT * FROM attempts WHERE name = ?', ref);
  return toAttempt(named ?? getRow(db, 'attempts', ref));
}

/** By task: the index of its numbers; by folder: idx_attempts_there; by name: its own. */
export function listAttempts(db: Database, query: AttemptQuery): Attempt[] {
  const { task_id, there, state, name } = query;
  const { where, values } = toWhere([
    task_id === undefined ? undefined : ['task_id = ?', findTask(db, task_id).id],
    there === undefined ? undefined : [`removed_at IS ${there ? '' : 'NOT '}NULL`],
    state === undefined ? undefined : ['state = ?', state],
    name === undefined ? undefined : ['name = ?', name],
  ]);
  return db.all(`SELECT * FROM attempts ${where} ORDER BY created_at, rowid`, ...values).map(toAttempt);
}

export function insertAttempt(db: Database, attempt: AttemptRecord['attempt'], revision: number): void {
  const { branch: _fromTheName, ...columns } = attempt;
  insertRow(db, 'attempts', { ...columns, revision });
}

export function toAttempt(row: Row): Attempt {
  const name = row.name as string;
  return {
    id: row.id as string,
    task_id: row.task_id as string,
    number: row.number as number,
    name,
    branch: toBranch(name),
    path: row.path as string,
    target: row.target as string,
    base_commit: row.base_commit as string,
    head_commit: row.head_commit as string | null,
    agent: row.agent as string | null,
    state: row.state as Attempt['state'],
    port: row.port as number | null,
    pick: row.pick as Attempt['pick'],
    strayed: row.strayed as string | null,
    merge_commit: row.merge_commit as string | null,
    created_at: row.created_at as string,
    finished_at: row.finished_at as string | null,
    cleanup_at: row.cleanup_at as string | null,
    removed_at: row.removed_at as string | null,
  };
}

function toBranch(name: string): string {
  return `forge/${name}`;
}

function refuseTakenName(db: Database, { id, name }: NewAttempt): void {
  const taken = db.get('SELECT id FROM attempts WHERE name = ?1 OR id = ?2', name, id);
  if (taken === undefined) return;
  throw new ForgeError('already_exists', `There is an attempt ${name} already`, {
    details: { id, name, attempt: taken.id },
  });
}

/** Uses idx_attempts_there: the ports of a folder that is gone are free. */
function refuseTakenPort(db: Database, { id, port }: { id: string; port: number | null }): void {
  if (port === null) return;
  const sql = 'SELECT id FROM attempts WHERE removed_at IS NULL AND port = ? AND id <> ?';
  const taken = db.get(sql, port, id);
  if (taken === undefined) return;
  throw new ForgeError('already_exists', `Port ${port} belongs to attempt ${taken.id as string}`, {
    details: { id, port, attempt: taken.id },
  });
}
