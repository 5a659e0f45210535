import type { ReviewConfig, ReviewConfigChange } from '#contract/task.ts';
import { toTriggeredBy } from '#domain/actor.ts';
import { checkSize } from '#domain/metadata.ts';
import type { Json } from '#kernel/json.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { OperationContext } from './operation.ts';

/** What review asks of a task after a change: what the change leaves out stays. Null where nothing is left. */
export function changeReviewConfig(now: ReviewConfig | undefined, change: ReviewConfigChange | null): Json {
  if (change === null) return null;
  checkSize(change.review_prompt ?? '', 'The prompt', LIMITS.description_bytes);
  const kept = Object.entries({ ...now, ...change }).filter(([, value]) => (value ?? null) !== null);
  return kept.length === 0 ? null : (Object.fromEntries(kept) as Json); // texts and lists of them
}

/**
 * The steps that a person sets themselves are trusted by that act; what an agent or its program sets waits for
 * somebody to look at it. Called after they were written.
 */
export async function vouchForSteps(
  ctx: OperationContext,
  change: ReviewConfigChange | null | undefined,
): Promise<void> {
  const steps = change?.ci_steps ?? [];
  if (steps.length === 0) return;
  const { listUntrusted, trustCommands } = await import('#sync/trust.ts');
  const place = { home: ctx.place.home, paths: ctx.project.paths };
  const actor = await ctx.actor();
  if (ctx.vouches === true && actor.kind === 'user')
    await trustCommands(place, steps, { now: ctx.clock.now(), by: toTriggeredBy(actor) });
  else if ((await listUntrusted(place, steps)).length > 0)
    ctx.host.notice('The steps run once a person has trusted them: forge trust');
}
