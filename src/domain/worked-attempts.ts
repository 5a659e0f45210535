import type { Attempt } from '#contract/attempt.ts';
import type { UnfinishedAttempt } from './task-plan.ts';

/** An attempt at a task, as the rules of the task see it. */
export interface WorkedAttempt extends Pick<
  Attempt,
  'id' | 'name' | 'number' | 'state' | 'created_at' | 'finished_at'
> {
  /** Of the runs in it; nothing asks for them unless it was given up. */
  readonly roles: readonly string[];
}

/** The newest that was neither merged nor given up. */
export function findUnfinished(attempts: readonly WorkedAttempt[]): UnfinishedAttempt | undefined {
  const active = attempts.filter(({ state }) => state === 'active').sort((a, b) => b.number - a.number);
  const [newest] = active;
  return newest === undefined ? undefined : { id: newest.id, name: newest.name };
}

/**
 * Whether an attempt was given up that began after the last merge of the task. One in which only a plan was made holds
 * no work: `planners` are the roles of those who plan.
 */
export function hasGivenUp(attempts: readonly WorkedAttempt[], planners: readonly string[]): boolean {
  const merged = attempts.flatMap(({ state, finished_at }) =>
    state === 'merged' ? (finished_at ?? '') : [],
  );
  const last = merged.reduce((newest, at) => (at > newest ? at : newest), '');
  return attempts.some(
    ({ state, created_at, roles }) =>
      state === 'archived' &&
      created_at > last &&
      (roles.length === 0 || roles.some((role) => !planners.includes(role))),
  );
}
