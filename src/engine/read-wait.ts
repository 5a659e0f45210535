import type { Task } from '#contract/task.ts';
import { findHalted, type Halted } from '#domain/find-halted.ts';
import {
  findWait,
  REPAIRED_MERGES,
  type TaskFacts,
  type Unfinished,
  type Wait,
  type WaitingTask,
} from '#domain/find-wait.ts';
import { isParked, kindOf, standingState, type ResolvedWorkflow } from '#domain/workflow.ts';
import { isForgeError } from '#kernel/errors.ts';
import type { AttemptStore } from '#store/attempt-store.ts';
import type { TaskStore } from '#store/store.ts';

/** What is asked about the tasks that wait. */
export interface WaitPlace {
  readonly store: Pick<TaskStore, 'listTransitions' | 'findMove' | 'listOpenWork' | 'readStanding'> &
    Pick<AttemptStore, 'listAttempts' | 'listRuns' | 'listReviews'>;
  readonly workflow: ResolvedWorkflow;
  /** Whether Forge starts this agent here. */
  isManaged(agent: string): Promise<boolean>;
  /** Whether every check of the task, and every set-up command, may run here as it is now. */
  trustsChecks(task: Pick<Task, 'review_config'>): Promise<boolean>;
}

/** Why a task waits for a person, and what helps; undefined where it needs none. What other commands tell is the same. */
export async function readWait(place: WaitPlace, task: WaitingTask): Promise<Wait | undefined> {
  if (task.status === 'closed') return undefined;
  const { store } = place;
  const isMine = ({ task_id }: { readonly task_id: string }): boolean => task_id === task.id;
  const at_work = (await store.listOpenWork()).some(isMine);
  const last = (await store.listReviews({ task_id: task.id })).at(-1);
  const asked = last?.status === 'waiting' ? last : undefined;
  return findWait(place.workflow, task, { ...(await readTaskFacts(place, task)), asked, at_work });
}

type LookedUp = Omit<TaskFacts, 'asked' | 'at_work'>;

/** What has to be looked up for a few tasks only. The caller knows which ones are at work. */
export async function readTaskFacts(place: WaitPlace, task: WaitingTask): Promise<LookedUp> {
  if (task.status === 'open') return readLeft(place, task);
  const code = task.error_annotation?.code;
  if (code !== undefined) {
    const worker = await findWorker(place, task);
    if (code === 'untrusted') return { worker, untrusted: !(await place.trustsChecks(task)) };
    return REPAIRED_MERGES.has(code) ? { worker, unfinished: await findUnfinished(place, task) } : { worker };
  }
  const halted = await readHalted(place, task);
  return halted === undefined ? {} : { halted: { ...halted, managed: await place.isManaged(halted.agent) } };
}

/** The agent that Forge would start again. What a person has is that person's. */
async function findWorker(place: WaitPlace, { id, assignee }: WaitingTask): Promise<string | null> {
  const attempts = assignee === null ? await place.store.listAttempts({ task_id: id, state: 'active' }) : [];
  const name = assignee ?? attempts.at(-1)?.agent ?? null;
  return name !== null && (await place.isManaged(name)) ? name : null;
}

/** What is left of work on a task that is open. */
async function readLeft(place: WaitPlace, task: WaitingTask): Promise<LookedUp> {
  const { store, workflow } = place;
  const isAside = isParked(workflow, standingState(workflow, task));
  const parked_by = isAside ? await findWhoParked(store, task.id) : undefined;
  return { unfinished: await findUnfinished(place, task), parked_by };
}

/** The newest attempt that was neither merged nor given up, and whose folder is on this machine. */
async function findUnfinished(
  place: WaitPlace,
  { id: task_id }: WaitingTask,
): Promise<Unfinished | undefined> {
  const attempt = (await place.store.listAttempts({ task_id, there: true, state: 'active' })).at(-1);
  if (attempt === undefined) return undefined;
  return { ...attempt, managed: attempt.agent !== null && (await place.isManaged(attempt.agent)) };
}

/** The agent that put a task aside which it was working on. What agents propose was parked from its beginning. */
async function findWhoParked(
  store: Pick<TaskStore, 'listTransitions'>,
  id: string,
): Promise<string | undefined> {
  const last = (await store.listTransitions({ id, limit: 1 })).at(-1);
  const isAgents = last?.from_status === 'in_progress' && last.triggered_by.startsWith(AGENT);
  return isAgents ? last.triggered_by.slice(AGENT.length) : undefined;
}

const AGENT = 'agent:';

/** Whose work stands still, of a task that no process is at work on. */
export async function readHalted(
  { store, workflow }: Pick<WaitPlace, 'store' | 'workflow'>,
  task: WaitingTask,
): Promise<Halted | undefined> {
  // Nearly every task is told apart by this, and nothing is read for it.
  if (kindOf(workflow, standingState(workflow, task)) !== 'active' || task.assignee === null)
    return undefined;
  const { id: task_id } = task;
  const attempts = await store.listAttempts({ task_id, there: true, state: 'active' });
  if (attempts.length === 0) return undefined;
  const [runs, begun, entry, { fence }] = await Promise.all([
    store.listRuns({ task_id }),
    store.findMove({ id: task_id, from_status: 'open', to_status: 'in_progress' }),
    store.findMove({ id: task_id }),
    store.readStanding(task_id),
  ]);
  const moves = [begun, entry].filter((move) => move !== undefined);
  return findHalted(workflow, { task, attempts, runs, moves, fence });
}

/** What a refusal says to do about a task that was not taken. */
export function toWait(error: unknown): Pick<Wait, 'message' | 'command'> | null {
  if (!isForgeError(error) || error.hint === undefined) return null;
  return { message: error.message, command: error.hint };
}
