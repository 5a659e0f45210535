import type { Run } from '#contract/attempt.ts';
import { countFailedRounds } from '#domain/count-rounds.ts';
import type { WorkPlace } from './work.ts';

/**
 * Of this task in this role, since one last got somewhere or a person took the task out of the blocked state; several
 * attempts at once are one try.
 */
export async function countFailures(
  { store, workflow }: Pick<WorkPlace, 'store' | 'workflow'>,
  { task_id, role }: Pick<Run, 'task_id' | 'role'>,
): Promise<number> {
  const [runs, attempts, grant] = await Promise.all([
    store.listRuns({ task_id }),
    store.listAttempts({ task_id }),
    store.findGrant({ id: task_id, blocked: workflow().blocked }),
  ]);
  const granted = grant?.created_at ?? '';
  return countFailedRounds(
    runs.filter((run) => run.role === role && run.created_at >= granted),
    attempts,
  );
}
