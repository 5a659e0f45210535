import type { Task } from '#contract/task.ts';
import { toTriggeredBy } from '#domain/actor.ts';
import { decideHolding } from '#domain/decide-holding.ts';
import { tellFormer } from '#domain/decide-save.ts';
import type { SteadyTime } from '#domain/leases.ts';
import type { ReadSteady } from '../steady-time.ts';
import { nextNumbers, planWrite, type LocalNumbers } from '#domain/plan-write.ts';
import type { Holding } from '#domain/task-holding.ts';
import type { Happening } from '#domain/task-plan.ts';
import type { TaskRecord } from '#domain/task-record.ts';
import { toTask } from '#domain/to-task.ts';
import { assert } from '#kernel/assert.ts';
import { toIso } from '#kernel/clock.ts';
import { noteOwnWrite } from '../fold/own-runs.ts';
import type { Writer } from '../store.ts';
import { resolveTaskId } from './memory-ids.ts';
import { writeRow } from './memory-rows.ts';
import { memoryShown } from './memory-shown.ts';
import { checkSave } from './memory-save.ts';
import { toError } from './memory-seen.ts';
import { insertMove } from './memory-log.ts';
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
  /** Stores a changed record with a version bump; an unchanged one only gives the task as it is. */
  save(before: TaskRow | undefined, after: TaskRecord, happening: Happening): Saved;
  /** Puts a task back that was deleted; its numbers go on from where they were. */
  restore(after: TaskRecord, numbers: LocalNumbers, happening: Happening): Saved;
}

export interface Saved {
  readonly task: Task;
  readonly fence: number;
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
  readonly steady?: ReadSteady | undefined;
}

/** Nothing waits in the middle of `work`, so that no other write and no read comes between. */
export function writeMemory<T>(
  { tables, steady }: MemoryParts,
  by: Writer,
  work: (tx: MemoryTransaction) => T,
): T {
  return tables.journal.keep(() => {
    if (by.holding !== undefined) checkHolding(tables, by.holding);
    return work(openTransaction({ tables, steady }, by));
  });
}

function openTransaction({ tables, steady }: MemoryParts, by: Writer): MemoryTransaction {
  const write = (
    before: TaskRow | undefined,
    after: TaskRecord,
    { happening, numbers }: { readonly happening: Happening; readonly numbers: LocalNumbers },
  ): Saved => {
    const workflow = workflowOf(tables);
    const triggered_by = toTriggeredBy(by.actor);
    const plan = planWrite({ before: before?.record, after, happening, numbers, triggered_by, workflow });
    writeRow(tables, after, numbers);
    const [first] = plan.events.map((event) =>
      insertEvent(tables, by, { ...event, ...plan, task_id: after.id }),
    );
    if (plan.move !== undefined) {
      const place = { task_id: after.id, at: after.life.written, event_seq: first ?? null };
      insertMove(tables, place, plan.move);
    }
    if (plan.own_write !== undefined) noteOwnWrite(memoryShown(tables), after.id, plan.own_write);
    return { task: plan.task, fence: numbers.fence };
  };
  const tx: MemoryTransaction = {
    tables,
    by,
    steady: () => steady?.(by) ?? { clock: 0, at: by.now },
    read(id) {
      const row = tables.tasks.get(id);
      assert(row !== undefined, `task ${id} is there in its own transaction`);
      return row;
    },
    tell: (event) => insertEvent(tables, by, event),
    restore: (after, numbers, happening) => write(undefined, after, { happening, numbers }),
    save(before, after, happening) {
      if (before?.record === after)
        return { task: toTask(after, before.version, workflowOf(tables)), fence: before.fence };
      const former_owner = before === undefined ? undefined : checkSave(tx, before, { after, happening });
      const told = { happening: tellFormer(happening, former_owner), numbers: nextNumbers(before, after) };
      const saved = write(before, after, told);
      return former_owner === undefined ? saved : { ...saved, task: { ...saved.task, former_owner } };
    },
  };
  return tx;
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

/** Throws permission_denied where the task is not the agent's. */
function checkHolding(tables: MemoryTables, holding: Holding): void {
  const row = tables.tasks.get(resolveTaskId(tables, holding.id));
  if (row === undefined) return; // the write says what is wrong
  const refusal = decideHolding(row.record, holding);
  if (refusal !== undefined) throw toError(tables, row, refusal);
}
