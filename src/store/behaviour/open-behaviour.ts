import { NO_AGENTS } from '#domain/claimer.ts';
import { expect } from 'vitest';
import type { Task } from '#contract/task.ts';
import { isForgeError, type ErrorCode, type ForgeError } from '#kernel/errors.ts';
import type { EventStore } from '../event-store.ts';
import type { Replication } from '../replication.ts';
import type { ReadSteady } from '../steady-time.ts';
import type { CloseResult, NewTaskInput, TaskStore, Writer } from '../store.ts';

/** A store that the behavioural suite may do anything to. */
export interface StoreUnderTest extends AsyncDisposable {
  /** The store as it is open now; another one after `reopen`. */
  readonly store: TaskStore & EventStore & Pick<Replication, 'foldHistory'>;
  readonly clock: { now(): number; advance(ms: number): void };
  /** Closes and opens it again: what the next process sees; `begins`: a server does that begins. */
  reopen(between?: () => void, how?: { readonly begins?: true }): Promise<void>;
  /** Brings tasks in by their lines, as a replica that was written elsewhere; ids and times are then chosen. */
  bring(lines: readonly object[]): Promise<void>;
}

/** `steady`: the machine's own clock; left out, the times of writers stand for it. */
export type OpenStore = (options?: { readonly steady?: ReadSteady }) => Promise<StoreUnderTest>;

/** Somebody who writes now, a second after whoever wrote before. */
export function by(sut: StoreUnderTest, name = 'alice', kind: Writer['actor']['kind'] = 'agent'): Writer {
  sut.clock.advance(1_000);
  return { actor: { kind, name, named: true }, now: sut.clock.now() };
}

export function newTask(title: string, more: Partial<NewTaskInput> = {}): NewTaskInput {
  return {
    id_prefix: 'fg',
    title,
    description: '',
    type: 'task',
    priority: 2,
    state: 'todo',
    parent_id: null,
    assignee: null,
    labels: [],
    github_issue: null,
    depends_on: [],
    metadata: new Map(),
    ...more,
  };
}

export function create(sut: StoreUnderTest, title: string, more: Partial<NewTaskInput> = {}): Promise<Task> {
  return sut.store.createTask(newTask(title, more), by(sut));
}

export function claim(sut: StoreUnderTest, id: string, assignee: string, force = false) {
  return sut.store.claimTask({ id, assignee, force, agents: NO_AGENTS }, by(sut, assignee));
}

/** By a person, who may also close what another owns. */
export function close(sut: StoreUnderTest, id: string, reason = 'done'): Promise<CloseResult> {
  return sut.store.closeTask({ id, reason }, by(sut, 'alice', 'user'));
}

/** `from` waits for `to`. */
export function depend(
  sut: StoreUnderTest,
  from: string,
  to: string,
  type: 'blocks' | 'related' | 'discovered-from' = 'blocks',
) {
  return sut.store.addDependency({ from_id: from, to_id: to, type }, by(sut));
}

export async function readyTitles(sut: StoreUnderTest): Promise<string[]> {
  return (await sut.store.listReady({})).map((task) => task.title);
}

export function titles(tasks: readonly { title: string }[]): string[] {
  return tasks.map((task) => task.title);
}

/** A line such as another replica holds, with only what has to be there. */
export function line(id: string, more: object = {}): object {
  const created_at = '2026-01-01T00:00:00.000Z';
  return { id, title: id, status: 'open', created_at, created_by: 'bob', updated_at: created_at, ...more };
}

/** Rejects with this code; gives the error for a closer look. */
export async function expectCode(promise: Promise<unknown>, code: ErrorCode): Promise<ForgeError> {
  const outcome = await promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if (!('error' in outcome)) throw new Error(`expected ${code}, got ${JSON.stringify(outcome.value)}`);
  if (!isForgeError(outcome.error)) throw new Error(`expected ${code}`, { cause: outcome.error });
  expect(outcome.error.code).toBe(code);
  return outcome.error;
}

/** Everything the store shows of its tasks. Equal before and after: nothing was changed. */
export async function everything(sut: StoreUnderTest): Promise<unknown> {
  const tasks = await sut.store.listTasks({ sort: 'id' });
  const shown = await Promise.all(tasks.map((task) => sut.store.getTask(task.id)));
  const history = await Promise.all(
    tasks.map((task) => sut.store.readHistory({ id: task.id, limit: undefined })),
  );
  return { shown, history, stats: await sut.store.readStats({ now: sut.clock.now(), exclude_types: [] }) };
}
