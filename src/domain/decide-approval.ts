import type { AlwaysRule, Approval } from '#contract/attempt.ts';
import { toIso } from '#kernel/clock.ts';
import type { WorkRefusal } from './work-refusal.ts';

export interface Answering {
  readonly state: Exclude<Approval['state'], 'pending'>;
  readonly reason?: string | null | undefined;
  readonly always?: AlwaysRule | null | undefined;
}

/** The approval after its answer: it is answered once. */
export function decideAnswer(
  before: Approval,
  { state, reason = null, always = null }: Answering,
  { by, now }: { readonly by: string; readonly now: number },
): { readonly outcome: 'save'; readonly approval: Approval } | Extract<WorkRefusal, { outcome: 'answered' }> {
  if (before.state !== 'pending') return { outcome: 'answered', approval: before };
  const approval = { ...before, state, answered_at: toIso(now), answered_by: by, reason, always };
  return { outcome: 'save', approval };
}
