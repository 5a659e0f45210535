import type { Run } from '#contract/attempt.ts';
import { countFailedRounds } from '#domain/count-rounds.ts';
import type { AttemptStore } from '#store/attempt-store.ts';

/** Of this task in this role, since one last got somewhere; several attempts at once are one try. */
export async function countFailures(
  store: Pick<AttemptStore, 'listRuns' | 'listAttempts'>,
  { task_id, role }: Pick<Run, 'task_id' | 'role'>,
): Promise<number> {
  const [runs, attempts] = await Promise.all([store.listRuns({ task_id }), store.listAttempts({ task_id })]);
  return countFailedRounds(
    runs.filter((run) => run.role === role),
    attempts,
  );
}
