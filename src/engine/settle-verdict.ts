import type { Review } from '#contract/attempt.ts';
import type { Task } from '#contract/task.ts';
import { decideReview, isSaidByPerson } from '#domain/decide-review.ts';
import { passTarget } from '#domain/gate-targets.ts';
import type { Annotation } from '#domain/plan-transition.ts';
import type { Engine } from './engine.ts';
import { passReview, reject } from './review-gate.ts';
import { transitionTask } from './transition-task.ts';
import type { Hold } from './work.ts';

export interface SettledReview {
  readonly task: Task;
  readonly gate: string;
  /** As it was written down. */
  readonly review: Review;
  /** Why a person has to look; undefined where the verdict says all. */
  readonly why?: Annotation | undefined;
  /** What has passed goes on without being asked. */
  readonly leads_on: boolean;
  /** Only while an auditor has the task by this; throws fence_conflict where it was taken away. */
  readonly held?: Hold | undefined;
}

/**
 * Moves a task on or back after the holder of its gate has spoken, whoever that is. The engine is Forge's own, so that
 * a no counts as a rejection of the gate, except for the no of a person. Gives the task as it stands then.
 */
export async function settleVerdict(engine: Engine, settled: SettledReview): Promise<Task> {
  const { task, gate, review, why, leads_on, held } = settled;
  const { workflow } = engine;
  const to = passTarget(workflow, gate);
  if (review.status === 'passed') {
    const passed = await passReview(engine, task, review, held?.fence);
    if (!leads_on || to === undefined || review.attempt_id === null) return passed;
    return transitionTask(engine, { id: task.id, to, reason: 'the review passed', held });
  }
  if (why !== undefined && workflow.blocked !== undefined) {
    const blocking = { to: workflow.blocked, reason: why.message, annotation: why };
    return transitionTask(engine, { id: task.id, ...blocking, held });
  }
  const outcome = reject(engine, gate, findReason(review));
  return outcome.outcome === 'cascaded'
    ? transitionTask(engine, {
        id: task.id,
        to: outcome.to,
        reason: outcome.reason,
        held,
        by_person: isSaidByPerson(review),
      })
    : task;
}

/** What whoever works on it next is told. */
export function findReason({ step_results, verdict }: Review): string {
  const facts = { holder: { kind: 'none' }, has_attempt: true } as const;
  const decision = decideReview({ ...facts, steps: step_results, verdict });
  return decision.answer === 'failed' ? decision.reason : 'the review gave no verdict';
}
