import { randomUUID } from 'node:crypto';
import type { Attempt, Run, RunState } from '#contract/attempt.ts';
import type { Task } from '#contract/task.ts';
import type { AttemptStore, NewAttempt, NewMerge, NewRun, ProcessMark } from '../attempt-store.ts';
import { by, create, type StoreUnderTest } from './open-behaviour.ts';

/** A store of attempts that the behavioural suite may do anything to. */
export interface WorkUnderTest extends StoreUnderTest {
  readonly store: StoreUnderTest['store'] & AttemptStore;
  /** The same store on a connection of its own. */
  connectAgain(): Promise<AttemptStore & AsyncDisposable>;
}

export type OpenWork = () => Promise<WorkUnderTest>;

export const WATCHER = toMark(4711);

export function toMark(pid: number): ProcessMark {
  return { host: 'here', boot_id: 'b-1', pid_namespace: 'pid:[1]', pid, start_time: 123 };
}

export function newAttempt(task_id: string, more: Partial<NewAttempt> = {}): NewAttempt {
  const id = more.id ?? randomUUID();
  return {
    id,
    task_id,
    name: `${id.slice(0, 8)}-work`,
    path: `/nowhere/${id}`,
    target: 'main',
    base_commit: 'a'.repeat(40),
    agent: 'worker-1',
    port: null,
    ...more,
  };
}

/** A task and its first attempt. */
export async function startWork(
  sut: WorkUnderTest,
  more: Partial<NewAttempt> = {},
): Promise<{ task: Task; attempt: Attempt }> {
  const task = await create(sut, 'Work');
  const attempt = await sut.store.startAttempt(newAttempt(task.id, more), by(sut));
  return { task, attempt };
}

export function startRun(sut: WorkUnderTest, attempt: Attempt, more: Partial<NewRun> = {}): Promise<Run> {
  return sut.store.createRun(newRun(attempt, more), by(sut));
}

export function newRun(attempt: Attempt, more: Partial<NewRun> = {}): NewRun {
  return {
    id: randomUUID(),
    attempt_id: attempt.id,
    role: 'coder',
    agent: 'worker-1',
    executor: 'shell',
    fence: null,
    in_state: null,
    state: 'scheduled',
    session_id: null,
    watcher: WATCHER,
    ...more,
  };
}

/** A run that has come to this state by the states before it. */
export async function leadRun(sut: WorkUnderTest, run: Run, states: readonly RunState[]): Promise<Run> {
  let moved = run;
  for (const to of states) moved = await sut.store.moveRun({ id: run.id, to }, by(sut));
  return moved;
}

export function newMerge(attempt: Attempt, more: Partial<NewMerge> = {}): NewMerge {
  return {
    id: randomUUID(),
    attempt_id: attempt.id,
    target: attempt.target,
    strategy: 'merge',
    head_commit: 'b'.repeat(40),
    watcher: WATCHER,
    ...more,
  };
}

/** What was told of a task since `after`, with the data as it was. */
export async function toldSince(
  sut: WorkUnderTest,
  after: number,
): Promise<{ type: string; task_id: string | null; triggered_by: string; data: Record<string, unknown> }[]> {
  const { events } = await sut.store.readEvents({ after, limit: 1_000 });
  return events.map(({ type, task_id, triggered_by, data }) => ({
    type,
    task_id,
    triggered_by,
    data: JSON.parse(data) as Record<string, unknown>,
  }));
}
