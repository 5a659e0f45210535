import type { Attempt, Run } from '#contract/attempt.ts';
import { isAgentFault } from './decide-suspension.ts';

/** Ends that say nothing about the task, so that they spend nothing. */
const FREE: readonly Run['outcome'][] = [null, 'stopped', 'cap_reached', 'crashed'];

type WorkedRun = Pick<Run, 'attempt_id' | 'outcome'>;
type Lifetime = Pick<Attempt, 'id' | 'created_at' | 'finished_at'>;

/**
 * How often in a row a task was tried in vain: attempts side by side that all fail are one try. Runs of one role, the
 * oldest first; what was stopped or has to wait counts for nothing.
 */
export function countFailedRounds(runs: readonly WorkedRun[], attempts: readonly Lifetime[]): number {
  const lives = new Map(attempts.map((attempt) => [attempt.id, attempt]));
  let count = 0;
  let round = new Set<string>();
  for (const { attempt_id, outcome } of runs) {
    if (FREE.includes(outcome) || isAgentFault(outcome)) continue;
    const isNew =
      round.has(attempt_id) || [...round].some((id) => isAfter(lives.get(attempt_id), lives.get(id)));
    if (isNew || round.size === 0) {
      count += 1;
      round = new Set();
    }
    round.add(attempt_id);
    // One that got somewhere makes good what failed beside it, before and after.
    if (outcome === 'completed') count = 0;
  }
  return count;
}

/** It was begun when the other was over, so that they were not side by side. */
function isAfter(attempt: Lifetime | undefined, other: Lifetime | undefined): boolean {
  const over = other?.finished_at ?? null;
  return attempt !== undefined && over !== null && attempt.created_at >= over;
}
