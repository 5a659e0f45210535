import type { AttemptRecord } from '#contract/attempt-record.ts';
import type { Attempt } from '#contract/attempt.ts';
import { toIso } from '#kernel/clock.ts';
import { ForgeError } from '#kernel/errors.ts';
import type { AttemptChange, AttemptQuery, NewAttempt } from '../attempt-store.ts';
import type { Database, Row } from './database.ts';
import { findTask } from './report-queries.ts';
import { resolveTaskId } from './resolve-id.ts';
import { checkSeen } from './save-plan.ts';
import { getRow, insertRow, toWhere, updateRow, type WorkTransaction } from './work-transaction.ts';

export function startAttempt(tx: WorkTransaction, wanted: NewAttempt): Attempt {
  const { db, by } = tx;
  const task = tx.read(resolveTaskId(db, wanted.task_id));
  const { id: task_id, life } = task.record;
  checkSeen(tx, task, { fence: wanted.fence });
  if (life.status === 'closed') {
    throw new ForgeError('state_invalid', `${task_id} is closed; nobody can begin to work on it`, {
      hint: `forge task reopen ${task_id}`,
      details: { id: task_id, status: life.status, state: life.state },
    });
  }
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
  const { id, task_id } = before;
  const changes = Object.fromEntries(Object.entries(wished).filter(([, value]) => value !== undefined));
  const changed: Attempt = { ...before, ...changes };
  const isActive = changed.state === 'active';
  const finished_at = isActive ? null : (before.finished_at ?? toIso(by.now));
  // Nobody looks after the folder of one that is over.
  const attempt: Attempt = { ...changed, finished_at, strayed: isActive ? changed.strayed : null };
  if (JSON.stringify(attempt) === JSON.stringify(before)) return before;
  if (attempt.state === 'merged' && attempt.merge_commit === null) throw notMerged(attempt);
  const leases = attempt.removed_at === null && (attempt.port !== before.port || before.removed_at !== null);
  if (leases) refuseTakenPort(db, attempt);
  const { head_commit, agent, state, port, merge_commit, pick, strayed, cleanup_at, removed_at } = attempt;
  const times = { finished_at, cleanup_at, removed_at };
  updateRow(db, 'attempts', id, { head_commit, agent, state, port, merge_commit, pick, strayed, ...times });
  tx.touch(id);
  if (isActive && strayed !== before.strayed)
    tx.tell(strayed === null ? 'attempt.returned' : 'attempt.strayed', task_id, { attempt });
  if (before.state === 'active' && state !== 'active') tx.tell('attempt.finished', task_id, { attempt });
  if (before.removed_at === null && removed_at !== null) tx.tell('attempt.removed', task_id, { attempt });
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

/** What is called merged without a commit in its target would close a task whose work is nowhere. */
function notMerged({ id, task_id, name, target }: Attempt): ForgeError {
  return new ForgeError('state_invalid', `${name} was not merged into ${target}: no commit of it is named`, {
    hint: `forge task show ${task_id}`,
    details: { id, task_id, target },
  });
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
