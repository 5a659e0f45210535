import type { PRIORITY_NAMES } from '#contract/task.ts';

/** The contract's names without its schemas: a cold read must not load those. The type keeps the two equal. */
export const PRIORITY_LABELS: typeof PRIORITY_NAMES & readonly string[] = [
  'critical',
  'high',
  'medium',
  'low',
  'backlog',
];
