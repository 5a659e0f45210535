import type { Attempt, AttemptView, Review, Run, StepResult } from '#contract/attempt.ts';
import { isAgentFault } from './decide-suspension.ts';
import { isEnded } from './run-states.ts';

/** An attempt with the rows that say how far it has come; the oldest first, and of this attempt alone. */
export interface AttemptRows {
  readonly attempt: Attempt;
  /** Of those who work on it: neither who plans nor who audits. */
  readonly runs: readonly Run[];
  readonly reviews: readonly Review[];
}

export type Judged = Pick<AttemptView, 'result' | 'message'>;

/** What the rows say of one attempt. Only a review of exactly its head says anything about it. */
export function judgeAttempt({ attempt, runs, reviews }: AttemptRows): Judged {
  const run = runs.at(-1);
  if (run === undefined) return { result: 'unbegun', message: null };
  if (!isEnded(run.state)) return { result: 'working', message: null };
  const message = run.message ?? run.outcome;
  if (run.outcome === 'crashed' || run.outcome === null) return { result: 'cut_off', message };
  if (isAgentFault(run.outcome)) return { result: 'unavailable', message };
  if (run.outcome !== 'completed') return { result: 'failed', message };
  const review = reviews.findLast(
    ({ status, head_commit }) => status !== 'void' && head_commit === attempt.head_commit,
  );
  if (review === undefined || review.status === 'running') return { result: 'unchecked', message: null };
  // The word of a person may be missing, but no check; without a single one it may be that none was allowed to run.
  if (review.status === 'waiting' && review.step_results.length === 0)
    return { result: 'unchecked', message: null };
  if (review.status === 'passed' || review.status === 'waiting') return { result: 'green', message: null };
  const failed = review.step_results.find(({ outcome }) => outcome !== 'passed');
  return {
    result: 'red',
    message: failed === undefined ? (review.verdict?.summary ?? null) : toLine(failed),
  };
}

function toLine({ command, outcome, exit_code, output }: StepResult): string {
  if (outcome === 'start_failed' && output !== '') return `${command}: ${output}`;
  return `${command}: ${outcome === 'failed' && exit_code !== null ? `exit ${exit_code}` : outcome.replaceAll('_', ' ')}`;
}
