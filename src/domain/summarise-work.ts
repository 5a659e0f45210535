import { describeRequest } from './describe-request.ts';
import type { WorkData } from './work-event.ts';

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
