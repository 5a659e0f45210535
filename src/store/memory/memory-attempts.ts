import type { Attempt } from '#contract/attempt.ts';
import {
  decideAttemptChange,
  decideAttemptStart,
  refusePort,
  type AttemptStartFacts,
} from '#domain/decide-attempt.ts';
import { explainWorkRefusal } from '#domain/work-refusal.ts';
import type { AttemptChange, AttemptQuery, NewAttempt } from '../attempt-store.ts';
import { findTask, resolveTaskId } from './memory-ids.ts';
import type { MemoryTables } from './memory-tables.ts';
import { checkSeen } from './memory-seen.ts';
import type { MemoryTransaction } from './memory-transaction.ts';
import { resolveWorkId, sortByTime, tellAll } from './memory-work.ts';

export function startAttempt(
  tx: MemoryTransaction,
  { task_id, fence, holder, ...wish }: NewAttempt,
): Attempt {
  const { tables, by } = tx;
  const task = tx.read(resolveTaskId(tables, task_id));
  const { id, life } = task.record;
  checkSeen(tables, task, { fence });
  const all = tables.attempts.list();
  const facts: AttemptStartFacts = {
    task: { ...life, id },
    named: all.find((one) => one.name === wish.name || one.id === wish.id)?.id,
    port_of: findPortOwner(tables, wish, holder?.host),
    newest: Math.max(0, ...all.filter((one) => one.task_id === id).map(({ number }) => number)),
  };
  const decision = decideAttemptStart(facts, wish, by.now);
  if (decision.outcome !== 'save') throw explainWorkRefusal(decision);
  tables.attempts.set(decision.attempt.id, decision.attempt);
  if (holder !== undefined) tables.holders.set(decision.attempt.id, holder);
  tellAll(tx, decision.events);
  return decision.attempt;
}

export function changeAttempt(tx: MemoryTransaction, { id: ref, ...wished }: AttemptChange): Attempt {
  const { tables, by } = tx;
  const before = getAttempt(tables, ref);
  const decision = decideAttemptChange(before, wished, by.now);
  if (decision.outcome === 'unchanged') return before;
  if (decision.outcome !== 'save') throw explainWorkRefusal(decision);
  const { attempt, events } = decision;
  const taken = decision.takes_port
    ? refusePort(attempt, findPortOwner(tables, attempt, tables.holders.get(attempt.id)?.host))
    : undefined;
  if (taken !== undefined) throw explainWorkRefusal(taken);
  tables.attempts.set(attempt.id, attempt);
  tellAll(tx, events);
  return attempt;
}

/** By its id or the beginning of it, or by its whole name. */
export function getAttempt(tables: MemoryTables, ref: string): Attempt {
  const named = tables.attempts.list().find(({ name }) => name === ref);
  return named ?? (tables.attempts.get(resolveWorkId(tables, 'attempts', ref)) as Attempt); // it was found
}

export function listAttempts(tables: MemoryTables, query: AttemptQuery): Attempt[] {
  const { there, state, name, host } = query;
  const task_id = query.task_id === undefined ? undefined : findTask(tables, query.task_id).id;
  const found = tables.attempts
    .list()
    .filter(
      (one) =>
        (task_id === undefined || one.task_id === task_id) &&
        (there === undefined || (one.removed_at === null) === there) &&
        (state === undefined || one.state === state) &&
        (name === undefined || one.name === name) &&
        isOn(tables, one, host),
    );
  return sortByTime(found, ({ created_at }) => created_at);
}

/** Another one with its port, whose folder is there. */
function findPortOwner(
  tables: MemoryTables,
  { id, port }: Pick<Attempt, 'id' | 'port'>,
  host: string | undefined,
): string | undefined {
  if (port === null) return undefined;
  return tables.attempts
    .list()
    .find((one) => one.removed_at === null && one.port === port && one.id !== id && isOn(tables, one, host))
    ?.id;
}

/** Also where it is not known on which machine its folder is. */
function isOn({ holders }: MemoryTables, { id }: Pick<Attempt, 'id'>, host: string | undefined): boolean {
  const known = holders.get(id)?.host;
  return host === undefined || known === undefined || known === host;
}
