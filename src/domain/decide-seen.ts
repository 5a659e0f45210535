import type { SeenTask } from './task-plan.ts';
import type { TaskRefusal } from './task-refusal.ts';

/** What a caller says of the task that it looked at before; what is left out may have changed since. */
export interface Seen {
  readonly version?: number | undefined;
  readonly fence?: number | undefined;
}

/** Undefined where the task still is what the caller saw. */
export function decideSeen(
  { version, fence }: SeenTask,
  seen: Seen,
): Extract<TaskRefusal, { outcome: 'other_version' | 'other_claim' }> | undefined {
  if (seen.version !== undefined && seen.version !== version)
    return { outcome: 'other_version', asked: seen.version };
  if (seen.fence !== undefined && seen.fence !== fence) return { outcome: 'other_claim', asked: seen.fence };
  return undefined;
}
