import type { RunState } from '#contract/attempt.ts';

/** Where a run may go from where it is. What has ended begins anew only by a resume, as a draft. */
const NEXT: Readonly<Record<RunState, readonly RunState[]>> = {
  draft: ['planned', 'completed', 'failed', 'cancelled'],
  planned: ['approved', 'cancelled', 'blocked'],
  approved: ['scheduled', 'cancelled'],
  scheduled: ['running', 'cancelled', 'blocked'],
  running: ['verifying', 'failed', 'blocked', 'cancelled'],
  verifying: ['completed', 'failed', 'running', 'cancelled'],
  completed: ['draft'],
  failed: ['draft'],
  blocked: ['draft', 'cancelled'],
  cancelled: ['draft'],
};

export const ENDED_RUN_STATES = [
  'completed',
  'failed',
  'blocked',
  'cancelled',
] as const satisfies readonly RunState[];

export function isEnded(state: RunState): boolean {
  return ENDED_RUN_STATES.some((one) => one === state);
}

export function listNextStates(from: RunState): readonly RunState[] {
  return NEXT[from];
}
