import type { StepResult } from '#contract/attempt.ts';
import { toIso } from '#kernel/clock.ts';
import { LIMITS } from '#kernel/limits.ts';

/** What a command said of a tree, and when. */
export interface KnownStep {
  readonly result: StepResult;
  /** Of the review that ran it; null for a merge. */
  readonly review_id: string | null;
  readonly created_at: string;
}

/** A result that was kept, with where it comes from. */
export function reuseStep({ result, review_id, created_at }: KnownStep): StepResult {
  return { ...result, reused_from: { review_id, at: created_at } };
}

/** Results of this moment and of earlier ones are known no more. */
export function forgottenStepsUntil(now: number): string {
  return toIso(now - LIMITS.step_cache_ms);
}
