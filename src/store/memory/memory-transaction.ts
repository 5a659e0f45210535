import { toTriggeredBy } from '#domain/actor.ts';
import type { SteadyTime } from '#domain/leases.ts';
import { decideSeen, type Seen } from '#domain/decide-seen.ts';
import type { Deciding, SeenTask } from '#domain/task-plan.ts';
import { explainTaskRefusal, type TaskRefusal } from '#domain/task-refusal.ts';
import { standingState } from '#domain/workflow.ts';
import { assert } from '#kernel/assert.ts';
import { toIso } from '#kernel/clock.ts';
import type { Writer } from '../store.ts';
import type { MemoryTables, TaskRow } from './memory-tables.ts';
import { workflowOf } from './memory-workflow.ts';

/** One write: rows and events, all or nothing. */
export interface MemoryTransaction {
  readonly tables: MemoryTables;
  readonly by: Writer;
  /** What leases are measured by. */
  steady(): SteadyTime;
  /** By a whole id that was found in this transaction. */
  read(id: string): TaskRow;
  /** Tells the feed; gives the event's number. */
  tell(event: MemoryEvent): number;
}

export interface MemoryEvent {
  readonly type: string;
  readonly task_id: string | null;
  readonly data: unknown;
  /** The writer where it is left out. */
  readonly triggered_by?: string | undefined;
}

export interface MemoryParts {
  readonly tables: MemoryTables;
  /** Left out: the writers' times stand for it. */
  readonly steady?: (() => SteadyTime) | undefined;
}

/** Nothing waits in the middle of `work`, so that no other write and no read comes between. */
export function writeMemory<T>(
  { tables, steady }: MemoryParts,
  by: Writer,
  work: (tx: MemoryTransaction) => T,
): T {
  return tables.journal.keep(() =>
    work({
      tables,
      by,
      steady: () => by.steady ?? steady?.() ?? { clock: 0, at: by.now },
      read(id) {
        const row = tables.tasks.get(id);
        assert(row !== undefined, `task ${id} is there in its own transaction`);
        return row;
      },
      tell: (event) => insertEvent(tables, by, event),
    }),
  );
}

function insertEvent(tables: MemoryTables, by: Writer, event: MemoryEvent): number {
  const { type, task_id, data, triggered_by = toTriggeredBy(by.actor) } = event;
  const seq = newestEvent(tables) + 1;
  const created_at = toIso(by.now);
  tables.facts.set(NEWEST, seq);
  tables.events.set(seq, { seq, type, task_id, triggered_by, created_at, data: JSON.stringify(data) });
  return seq;
}

/** The number of the newest event; 0 where there is none. */
export function newestEvent(tables: MemoryTables): number {
  return tables.facts.get(NEWEST) ?? 0;
}

const NEWEST = 'newest_event';

/** The task as a decision wants it. */
export function toSeen(tables: MemoryTables, { record, version, fence }: TaskRow): SeenTask {
  return { record, version, fence, standing: standingState(workflowOf(tables), record.life) };
}

export function toDeciding({ tables, by }: Pick<MemoryTransaction, 'tables' | 'by'>): Deciding {
  return { actor: by.actor, now: by.now, workflow: workflowOf(tables) };
}

export function toError(tables: MemoryTables, before: TaskRow, refusal: TaskRefusal): Error {
  return explainTaskRefusal(toSeen(tables, before), refusal);
}

/** Throws version_conflict or fence_conflict where the task is no longer the one that the caller saw. */
export function checkSeen(tables: MemoryTables, before: TaskRow, seen: Seen): void {
  const other = decideSeen(toSeen(tables, before), seen);
  if (other !== undefined) throw toError(tables, before, other);
}
