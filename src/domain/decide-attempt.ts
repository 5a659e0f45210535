import type { Attempt } from '#contract/attempt.ts';
import { toIso } from '#kernel/clock.ts';
import type { Life } from './task-record.ts';
import type { WorkRefusal } from './work-refusal.ts';

/** Undefined where an attempt may begin on the task. */
export function decideAttemptStart(
  task: { readonly id: string } & Pick<Life, 'status' | 'state'>,
): Extract<WorkRefusal, { outcome: 'task_closed' }> | undefined {
  const { id, status, state } = task;
  return status === 'closed' ? { outcome: 'task_closed', task: { id, status, state } } : undefined;
}

export type AttemptEvent = 'attempt.returned' | 'attempt.strayed' | 'attempt.finished' | 'attempt.removed';

export type AttemptDecision =
  | { readonly outcome: 'unchanged' }
  | {
      readonly outcome: 'save';
      readonly attempt: Attempt;
      /** It wants its ports, which must be free. */
      readonly takes_port: boolean;
      readonly events: readonly AttemptEvent[];
    }
  | Extract<WorkRefusal, { outcome: 'nothing_merged' }>;

/** What is left out of `wished`, or undefined in it, stays. */
export function decideAttemptChange(
  before: Attempt,
  wished: Readonly<Record<string, unknown>>,
  now: number,
): AttemptDecision {
  const changes = Object.fromEntries(Object.entries(wished).filter(([, value]) => value !== undefined));
  const changed: Attempt = { ...before, ...changes };
  const isActive = changed.state === 'active';
  const finished_at = isActive ? null : (before.finished_at ?? toIso(now));
  // No process looks after the folder of an attempt that is over.
  const attempt: Attempt = { ...changed, finished_at, strayed: isActive ? changed.strayed : null };
  if (JSON.stringify(attempt) === JSON.stringify(before)) return { outcome: 'unchanged' };
  // What is called merged without a commit in its target would close a task whose work is nowhere.
  if (attempt.state === 'merged' && attempt.merge_commit === null)
    return { outcome: 'nothing_merged', attempt };
  const takes_port =
    attempt.removed_at === null && (attempt.port !== before.port || before.removed_at !== null);
  return { outcome: 'save', attempt, takes_port, events: listEvents(before, attempt) };
}

function listEvents(before: Attempt, after: Attempt): AttemptEvent[] {
  const events: AttemptEvent[] = [];
  if (after.state === 'active' && after.strayed !== before.strayed)
    events.push(after.strayed === null ? 'attempt.returned' : 'attempt.strayed');
  if (before.state === 'active' && after.state !== 'active') events.push('attempt.finished');
  if (before.removed_at === null && after.removed_at !== null) events.push('attempt.removed');
  return events;
}
