import { checkProfile, EXECUTOR_TYPES, type ExecutorType } from '#executors/executor-types.ts';
import type { ExecutorProfile } from '#executors/executor.ts';

/** What Forge can run agents with. */
export function listExecutorTypes(): readonly ExecutorType[] {
  return EXECUTOR_TYPES;
}

/** Throws invalid_input for a set-up that its executor could not run by. */
export function checkExecutorProfile(profile: ExecutorProfile): void {
  checkProfile(profile);
}
