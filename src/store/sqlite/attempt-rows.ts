import type { AttemptRecord } from '#contract/attempt-record.ts';
import type { Attempt } from '#contract/attempt.ts';
import {
  decideAttemptChange,
  decideAttemptStart,
  refusePort,
  toBranch,
  type AttemptStartFacts,
} from '#domain/decide-attempt.ts';
import { explainWorkRefusal } from '#domain/work-refusal.ts';
import type { AttemptChange, AttemptQuery, NewAttempt } from '../attempt-store.ts';
import type { Database, Row } from './database.ts';
import { findTask } from './report-queries.ts';
import { checkSeen } from './save-plan.ts';
import { getRow, insertRow, refuse, toWhere, updateRow, type WorkTransaction } from './work-transaction.ts';

export function startAttempt(tx: WorkTransaction, { task_id, fence, holder, ...wish }: NewAttempt): Attempt {
  const { db, by } = tx;
  const task = tx.find(task_id);
  const { id, life } = task.record;
  checkSeen(tx, task, { fence });
  const facts: AttemptStartFacts = {
    task: { ...life, id },
    named: findNamed(db, wish),
    port_of: findPortOwner(db, wish, holder?.host),
    newest: Number(db.get('SELECT max(number) AS n FROM attempts WHERE task_id = ?', id)?.n ?? 0),
  };
  const decision = decideAttemptStart(facts, wish, by.now);
  if (decision.outcome !== 'save') throw explainWorkRefusal(decision);
  const { attempt, events } = decision;
  insertAttempt(db, attempt, 0);
  if (holder !== undefined)
    updateRow(db, 'attempts', attempt.id, { host: holder.host, daemon_id: holder.daemon_id ?? null });
  tx.touch(attempt.id);
  tx.tell(events);
  return attempt;
}

export function changeAttempt(tx: WorkTransaction, { id: ref, ...wished }: AttemptChange): Attempt {
  const { db, by } = tx;
  const before = getAttempt(db, ref);
  const decision = decideAttemptChange(before, wished, by.now);
  if (decision.outcome === 'unchanged') return before;
  if (decision.outcome !== 'save') throw explainWorkRefusal(decision);
  const { attempt, events } = decision;
  if (decision.takes_port) {
    const { host } = db.get('SELECT host FROM attempts WHERE id = ?', attempt.id) ?? {};
    refuse(refusePort(attempt, findPortOwner(db, attempt, typeof host === 'string' ? host : undefined)));
  }
  const { id, head_commit, agent, state, port, merge_commit, pick, strayed } = attempt;
  const { finished_at, cleanup_at, removed_at } = attempt;
  const times = { finished_at, cleanup_at, removed_at };
  updateRow(db, 'attempts', id, { head_commit, agent, state, port, merge_commit, pick, strayed, ...times });
  tx.touch(id);
  tx.tell(events);
  return attempt;
}

/** By its id or the beginning of it, or by its whole name. */
export function getAttempt(db: Database, ref: string): Attempt {
  const named = db.get('SELECT * FROM attempts WHERE name = ?', ref);
  return toAttempt(named ?? getRow(db, 'attempts', ref));
}

/** By task: the index of its numbers; by folder: idx_attempts_there; by name: its own. */
export function listAttempts(db: Database, query: AttemptQuery): Attempt[] {
  const { task_id, there, state, name, host } = query;
  const { where, values } = toWhere([
    task_id === undefined ? undefined : ['task_id = ?', findTask(db, task_id).id],
    there === undefined ? undefined : [`removed_at IS ${there ? '' : 'NOT '}NULL`],
    state === undefined ? undefined : ['state = ?', state],
    name === undefined ? undefined : ['name = ?', name],
    host === undefined ? undefined : ['(host IS NULL OR host = ?)', host],
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

/** By the primary key and the index of the names. */
function findNamed(db: Database, { id, name }: Pick<Attempt, 'id' | 'name'>): string | undefined {
  const taken = db.get('SELECT id FROM attempts WHERE name = ?1 OR id = ?2', name, id);
  return taken?.id as string | undefined;
}

/** Another one of the same machine with its port, whose folder is there. Uses idx_attempts_there. */
function findPortOwner(
  db: Database,
  { id, port }: Pick<Attempt, 'id' | 'port'>,
  host: string | undefined,
): string | undefined {
  if (port === null) return undefined;
  const sql = `SELECT id FROM attempts WHERE removed_at IS NULL AND port = ?1 AND id <> ?2
    AND (?3 IS NULL OR host IS NULL OR host = ?3)`;
  return db.get(sql, port, id, host ?? null)?.id as string | undefined;
}
