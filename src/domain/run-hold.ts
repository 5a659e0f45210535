import type { Run } from '#contract/attempt.ts';

/** What decides whether a run still has its task; undefined for a task that was deleted. */
export interface HeldTask {
  readonly id: string;
  readonly state: string;
  readonly assignee: string | null;
  readonly archived: boolean;
  /** Rises whenever the owner changes. */
  readonly fence: number;
}

/** Why a run does not have its task any more. */
export interface Loss {
  /** `removed`: its agent is not one of this machine's any more. */
  readonly code: 'deleted' | 'archived' | 'taken' | 'moved' | 'removed';
  readonly message: string;
}

/**
 * A run has its task as long as the claim that it was started under is the task's, and the task is in the state that
 * the run works in. Everything that takes a task from its agent changes one of these, whichever path it takes: release,
 * claim by force, another assignee, a transition, archive, deletion, a pull. Undefined while the run has it.
 */
export function findLoss(
  run: Pick<Run, 'task_id' | 'fence' | 'in_state'>,
  task: HeldTask | undefined,
): Loss | undefined {
  const { task_id: id } = run;
  if (task === undefined) return { code: 'deleted', message: `${id} was deleted` };
  if (task.archived) return { code: 'archived', message: `${id} was archived` };
  if (run.fence !== null && run.fence !== task.fence) {
    const who = task.assignee === null ? 'was released' : `belongs to ${task.assignee} now`;
    return { code: 'taken', message: `${id} ${who}` };
  }
  if (run.in_state !== null && run.in_state !== task.state)
    return { code: 'moved', message: `${id} was moved to ${task.state}` };
  return undefined;
}
