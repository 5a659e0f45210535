import type { Run } from '#contract/attempt.ts';
import type { AttemptStore } from '#store/attempt-store.ts';

/** Ends that are nobody's fault, so that they spend nothing. */
const FREE: readonly Run['outcome'][] = [null, 'stopped', 'usage_limit', 'auth', 'crashed'];

/** Of this task in this role, since one last got somewhere. What was stopped or has to wait counts for nothing. */
export async function countFailures(
  store: Pick<AttemptStore, 'listRuns'>,
  { task_id, role }: Pick<Run, 'task_id' | 'role'>,
): Promise<number> {
  const runs = (await store.listRuns({ task_id })).filter((run) => run.role === role);
  const since = runs.findLastIndex(({ outcome }) => outcome === 'completed') + 1;
  return runs.slice(since).filter(({ outcome }) => !FREE.includes(outcome)).length;
}
