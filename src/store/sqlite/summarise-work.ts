import { describeRequest } from '#domain/describe-request.ts';
import type { Approval, Attempt, Merge, Review, Run, StepResult } from '#contract/attempt.ts';

/** What the events of attempts carry; each has those that its name says. */
export interface WorkData {
  readonly attempt?: Attempt;
  readonly run?: Run;
  readonly approval?: Approval;
  readonly review?: Review;
  readonly step?: StepResult;
  readonly merge?: Merge;
}

/** One line of a task's history; undefined for an event that is not about work on it. */
export function summariseWork(type: string, data: WorkData): string | undefined {
  const { attempt, run, approval, review, step, merge } = data;
  const happened = type.replace(/^.*\./, '');
  if (attempt !== undefined) {
    const how = happened === 'finished' ? attempt.state : happened;
    return `attempt ${attempt.number} (${attempt.name}) ${how}`;
  }
  if (run !== undefined) return `run of ${run.agent} as ${run.role}: ${run.outcome ?? run.state}`;
  if (approval !== undefined)
    return approval.state === 'pending'
      ? `asks for ${describeRequest(approval)}`
      : `${describeRequest(approval)} ${happened === 'approval_forgotten' ? 'not always any more' : approval.state}`;
  if (review !== undefined) {
    const what = step === undefined ? '' : `: ${step.command}`;
    const how = step?.outcome ?? (review.status === 'running' ? happened : review.status);
    return `review ${review.attempt_number}${what} ${how}`;
  }
  return merge === undefined ? undefined : `merge into ${merge.target} ${merge.state}`;
}
