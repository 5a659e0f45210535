import type { Task } from '#contract/task.ts';
import { toTriggeredBy } from '#domain/actor.ts';
import { tellFormer } from '#domain/decide-save.ts';
import type { SteadyTime } from '#domain/leases.ts';
import type { ReadSteady } from '../steady-time.ts';
import { nextNumbers, planWrite, type LocalNumbers, type Move } from '#domain/plan-write.ts';
import type { Happening } from '#domain/task-plan.ts';
import type { TaskRecord } from '#domain/task-record.ts';
import { toTask } from '#domain/to-task.ts';
import { toIso } from '#kernel/clock.ts';
import { isForgeError, type ErrorCode } from '#kernel/errors.ts';
import type { Writer } from '../store.ts';
import { checkHolding } from './check-holding.ts';
import { checkSave } from './check-save.ts';
import type { Database } from './database.ts';
import { WALL } from './lease-lines.ts';
import { LoopTurn } from './loop-turn.ts';
import { insertEvent, insertTaskEvents, insertTransition } from './log-rows.ts';
import { toEncoded, type EncodedRecord } from '#domain/encoded-record.ts';
import { readRecord, writeRecord, type StoredRecord } from './record-rows.ts';
import { noteOwnWriteRow } from './own-values.ts';
import { refuseManyDependents } from './neighbour-bounds.ts';
import { resolveTaskId } from './resolve-id.ts';
import { encodeReplicaLine } from './replica-lines.ts';
import { takeBack } from './replica-appender.ts';
import {
  AGREE_TRIES,
  readHeld,
  holdBytes,
  holdFile,
  neverAgrees,
  replayReplica,
  writeAgreed,
} from './replay.ts';
import type { Replica } from './replica.ts';
import { encodeFact, writeFact, type KeptFact } from './store-facts.ts';

export interface Saved {
  readonly task: Task;
  readonly fence: number;
}

/** One mutation: rows, event, transition and replica line, all or nothing. */
export interface WriteTransaction {
  readonly db: Database;
  readonly by: Writer;
  /** Of a process that serves others: a write that would take long is refused. */
  readonly bounded: boolean;
  /** What the machine's own clock says: leases are measured by it. */
  steady(): SteadyTime;
  read(id: string): StoredRecord;
  /** The task that a reference means. Throws not_found, ambiguous_id. */
  find(ref: string): StoredRecord;
  /** Stores a changed record with a version bump; an unchanged one only gives the task as it is. */
  save(before: StoredRecord | undefined, after: TaskRecord, happening: Happening): Saved;
  /** Puts a row back that was deleted. */
  restore(after: TaskRecord, numbers: LocalNumbers, happening: Happening): Saved;
  /** For changes that leave no row behind: deletion. */
  saveLine(record: EncodedRecord, numbers: LocalNumbers): void;
  emit(taskId: string, happening: Happening, task: unknown): number;
  /** What is about no single task. */
  emitProject(data: Readonly<Record<string, unknown>>, type?: string): void;
  /** A number about the project that a rebuild must bring back. */
  keepFact(name: KeptFact, value: number): void;
  /** A line of the replica that is no record: what a rebuild must know besides. */
  keepLine(line: string): void;
}

/** What transactions are made on. */
export interface WriteStore {
  readonly db: Database;
  readonly replica: Replica;
  /** Left out: the writer's time stands for it, as tests have it. */
  readonly steady?: ReadSteady | undefined;
  /** Others are served by this process: a write that would take long is refused. */
  readonly bounded?: boolean | undefined;
}

export function writeInTransaction<T>(
  { db, replica, steady }: WriteStore,
  by: Writer,
  work: (tx: WriteTransaction) => T,
): T {
  let appended: { from: number } | undefined;
  try {
    return writeAgreed({ db, replica }, { now: by.now }, (offset) => {
      const written: Written[] = [];
      const result = runJob({ db, steady }, { by, work }, written);
      if (written.length > 0) {
        appended = { from: offset };
        const size = replica.append(offset, toLines(written));
        if (offset === 0) holdFile(db, replica);
        holdBytes(db, size);
      }
      return result;
    });
  } catch (error) {
    // The database does not hold it, so the replica must not either, or the next open would bring it back.
    if (appended !== undefined) takeBack(db, replica, appended.from);
    throw error;
  }
}

/** One write of several that are made together. */
export interface WriteJob<T = unknown> {
  readonly by: Writer;
  readonly work: (tx: WriteTransaction) => T;
}

export type JobOutcome = { readonly value: unknown } | { readonly error: unknown };

/**
 * Several writes in one transaction and with one sync of the replica, which is most of what a write costs. Each is all
 * or nothing by itself: one that is refused takes nothing of the others back. What is wrong with the store is wrong for
 * all of them, and thrown.
 */
export async function writeTogether(store: WriteStore, jobs: readonly WriteJob[]): Promise<JobOutcome[]> {
  for (let tries = 0; tries < AGREE_TRIES; tries += 1) {
    const outcomes = await tryTogether(store, jobs);
    if (outcomes !== undefined) return outcomes;
  }
  throw neverAgrees(store.db);
}

/** Undefined where nothing was done but to join in what a crash had left, as writeAgreed does. */
async function tryTogether(store: WriteStore, jobs: readonly WriteJob[]): Promise<JobOutcome[] | undefined> {
  const { db, replica } = store;
  const turn = new LoopTurn();
  let appended: { from: number } | undefined;
  try {
    return await db.writeAside(async () => {
      const held = readHeld(db);
      const offset = replayReplica(db, replica, { now: jobs[0]?.by.now ?? 0 }, held);
      if (offset !== held.bytes) return undefined;
      const lines: string[] = [];
      const outcomes: JobOutcome[] = [];
      for (const job of jobs) {
        // Each may touch many rows: other requests are served in between, on a connection of their own.
        if (outcomes.length > 0) await turn.pass();
        outcomes.push(tryJob(store, job, lines));
      }
      if (lines.length > 0) {
        appended = { from: offset };
        const size = replica.append(offset, lines, { sync: false });
        // The one thing that takes long. Others read meanwhile, on a connection of their own.
        await replica.syncAside();
        if (offset === 0) holdFile(db, replica);
        holdBytes(db, size);
      }
      return outcomes;
    });
  } catch (error) {
    if (appended !== undefined) takeBack(db, replica, appended.from);
    throw error;
  }
}

function tryJob(store: WriteStore, job: WriteJob, lines: string[]): JobOutcome {
  const { db } = store;
  const written: Written[] = [];
  db.run('SAVEPOINT job');
  try {
    const value = runJob(store, job, written);
    lines.push(...toLines(written));
    return { value };
  } catch (error) {
    if (isStoreTrouble(error)) throw error;
    db.run('ROLLBACK TO job');
    return { error };
  } finally {
    if (db.isInTransaction()) db.run('RELEASE job');
  }
}

function runJob<T>(
  { db, steady, bounded = false }: Omit<WriteStore, 'replica'>,
  { by, work }: WriteJob<T>,
  written: Written[],
): T {
  if (by.holding !== undefined) checkHolding(db, by.holding);
  const readTime = (): SteadyTime => steady?.(by) ?? { clock: WALL, at: by.now };
  return work({ ...openTransaction({ db, bounded }, by, written), steady: readTime });
}

const STORE_TROUBLES: readonly string[] = [
  'store_busy',
  'store_corrupt',
  'disk_full',
  'io_failed',
  'read_only',
  'schema_newer',
] satisfies ErrorCode[];

function isStoreTrouble(error: unknown): boolean {
  return isForgeError(error) && STORE_TROUBLES.includes(error.code);
}

/** Whether everything that waits for the task is counted anew by it. */
function isRecounted(before: TaskRecord | undefined, { life }: TaskRecord): boolean {
  return before !== undefined && (before.life.status === 'closed') !== (life.status === 'closed');
}

function toLines(written: readonly Written[]): string[] {
  const isLast = (one: Written): boolean => 'fact' in one && one.comes_last === true;
  const sorted = [...written.filter((one) => !isLast(one)), ...written.filter(isLast)];
  return sorted.map((one, at) =>
    'fact' in one
      ? one.fact
      : encodeReplicaLine(one.line, one.numbers, { follow: sorted.length - 1 - at, move: one.move }),
  );
}

/** What becomes a line of the replica. */
type Written =
  | WrittenRecord
  | {
      readonly fact: string;
      /** After all records: only they say what must follow, so that a write that a crash cut there is no half of one. */
      readonly comes_last?: true;
    };

interface WrittenRecord {
  readonly line: string;
  readonly numbers: LocalNumbers;
  readonly move?: Move | undefined;
}

function openTransaction(
  { db, bounded }: { readonly db: Database; readonly bounded: boolean },
  by: Writer,
  written: Written[],
): Omit<WriteTransaction, 'steady'> {
  const triggered_by = toTriggeredBy(by.actor);
  const emit = (taskId: string, happening: Happening, task: unknown): number =>
    insertEvent(db, {
      type: happening.type,
      task_id: taskId,
      triggered_by: happening.triggered_by ?? triggered_by,
      created_at: toIso(by.now),
      data: { task, changed: happening.changed, ...happening.more },
    });
  const write = (
    before: StoredRecord | undefined,
    encoded: EncodedRecord,
    numbers: LocalNumbers,
    happening: Happening,
  ): Saved => {
    const { record, line } = encoded;
    if (bounded && isRecounted(before?.record, record)) refuseManyDependents(db, record.id);
    writeRecord(db, before, encoded, numbers);
    const { workflow } = db;
    const plan = planWrite({
      before: before?.record,
      after: record,
      happening,
      numbers,
      triggered_by,
      workflow,
    });
    written.push({ line, numbers, move: plan.move });
    if (plan.own_write !== undefined)
      written.push({ fact: noteOwnWriteRow(db, record.id, plan.own_write), comes_last: true });
    const told = { task_id: record.id, triggered_by: plan.triggered_by, created_at: toIso(by.now) };
    const seq = insertTaskEvents(db, plan.events, told);
    if (plan.move !== undefined) insertTransition(db, record.id, record.life.written, plan.move, seq);
    return { task: plan.task, fence: numbers.fence };
  };
  const read = (id: string): StoredRecord => {
    const stored = readRecord(db, id);
    if (stored === undefined) throw new Error(`task ${id} vanished inside its own transaction`);
    return stored;
  };
  return {
    db,
    by,
    bounded,
    emit,
    emitProject: (data, type = 'project.changed') =>
      void insertEvent(db, {
        type,
        task_id: null,
        triggered_by,
        created_at: toIso(by.now),
        data,
      }),
    keepLine: (line) => void written.push({ fact: line }),
    keepFact(name, value) {
      writeFact(db, name, value);
      written.push({ fact: encodeFact(name, value) });
    },
    restore: (after, numbers, happening) => write(undefined, toEncoded(after), numbers, happening),
    read,
    // A whole id means itself, and nearly always it is one.
    find: (ref) => readRecord(db, ref.toLowerCase()) ?? read(resolveTaskId(db, ref)),
    saveLine: ({ line }, numbers) => void written.push({ line, numbers }),
    save(before, after, happening) {
      if (before?.record === after)
        return { task: toTask(after, before.version, db.workflow), fence: before.fence };
      const former_owner =
        before === undefined ? undefined : checkSave({ db, by }, before, { after, happening });
      const told = tellFormer(happening, former_owner);
      const saved = write(before, toEncoded(after), nextNumbers(before, after), told);
      return former_owner === undefined ? saved : { ...saved, task: { ...saved.task, former_owner } };
    },
  };
}
