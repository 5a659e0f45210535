import type { Task } from '#contract/task.ts';
import { findHalted, type Halted } from '#domain/find-halted.ts';
import { findWait, type TaskFacts, type Wait } from '#domain/find-wait.ts';
import { kindOf, standingState, type ResolvedWorkflow } from '#domain/workflow.ts';
import { isForgeError } from '#kernel/errors.ts';
import type { AttemptStore } from '#store/attempt-store.ts';
import type { TaskStore } from '#store/store.ts';

/** What is asked about the tasks that wait. */
export interface WaitPlace {
  readonly store: Pick<TaskStore, 'listTransitions' | 'listOpenWork' | 'readStanding'> &
    Pick<AttemptStore, 'listAttempts' | 'listRuns' | 'listReviews'>;
  readonly workflow: ResolvedWorkflow;
  /** Whether Forge starts this agent here. */
  isManaged(agent: string): Promise<boolean>;
  /** Whether every check of the task, and every set-up command, may run here as it is now. */
  trustsChecks(task: Task): Promise<boolean>;
}

/** Why a task waits for a person, and what helps; undefined where it needs none. What other commands tell is the same. */
export async function readWait(place: WaitPlace, task: Task): Promise<Wait | undefined> {
  if (task.status !== 'in_progress') return undefined;
  const { store } = place;
  const isMine = ({ task_id }: { readonly task_id: string }): boolean => task_id === task.id;
  const at_work = (await store.listOpenWork()).some(isMine);
  const last = (await store.listReviews({ task_id: task.id })).at(-1);
  const asked = last?.status === 'waiting' ? last : undefined;
  return findWait(place.workflow, task, { ...(await readTaskFacts(place, task)), asked, at_work });
}

/** What has to be looked up for a few tasks only. The caller knows which ones are at work. */
export async function readTaskFacts(
  place: WaitPlace,
  task: Task,
): Promise<Pick<TaskFacts, 'halted' | 'untrusted'>> {
  const code = task.error_annotation?.code;
  if (code === 'untrusted') return { untrusted: !(await place.trustsChecks(task)) };
  if (code !== undefined) return {};
  const halted = await readHalted(place, task);
  return halted === undefined ? {} : { halted: { ...halted, managed: await place.isManaged(halted.agent) } };
}

/** Whose work stands still, of a task that no process is at work on. */
export async function readHalted(
  { store, workflow }: Pick<WaitPlace, 'store' | 'workflow'>,
  task: Task,
): Promise<Halted | undefined> {
  // Nearly every task is told apart by this, and nothing is read for it.
  if (kindOf(workflow, standingState(workflow, task)) !== 'active' || task.assignee === null)
    return undefined;
  const { id: task_id } = task;
  const attempts = await store.listAttempts({ task_id, there: true, state: 'active' });
  if (attempts.length === 0) return undefined;
  const [runs, moves, { fence }] = await Promise.all([
    store.listRuns({ task_id }),
    store.listTransitions({ id: task_id, limit: undefined }),
    store.readStanding(task_id),
  ]);
  return findHalted(workflow, { task, attempts, runs, moves, fence });
}

/** What a refusal says to do about a task that was not taken. */
export function toWait(error: unknown): Pick<Wait, 'message' | 'command'> | null {
  if (!isForgeError(error) || error.hint === undefined) return null;
  return { message: error.message, command: error.hint };
}
