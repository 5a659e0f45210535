import { assert } from '#kernel/assert.ts';
import { applyLife, type DecidedLife } from './apply-life.ts';
import { checkElements } from './bound-elements.ts';
import { decideClaim, type ClaimFacts } from './decide-claim.ts';
import { decideReopening, type Reopening } from './decide-close.ts';
import { decideLife, type LifeDecision, type LifeRequest } from './decide-life.ts';
import { decideSeen, type Seen } from './decide-seen.ts';
import { changedNames, eventOf } from './describe-change.ts';
import { checkMetadataSize } from './metadata.ts';
import { encodeMetadata } from './record-codec.ts';
import { editRecord, type Edit } from './task-changes.ts';
import type { Deciding, SeenTask, TaskPlan, UnfinishedAttempt } from './task-plan.ts';
import type { TaskRefusal } from './task-refusal.ts';

/** What `task update` asks of status, state and owner, and of the task that was seen before. */
export type TaskUpdateWish = Seen & Omit<LifeRequest, 'actor'>;

/** What an update is decided by besides the task itself; `listUpdateNeeds` says which of it counts. */
export interface UpdateFacts extends Reopening {
  readonly claim: ClaimFacts | undefined;
  readonly unfinished: UnfinishedAttempt | undefined;
}

/** Which facts an update needs, so that no others are read. */
export interface UpdateNeeds {
  /** The claim that the wish amounts to. */
  readonly claim: Extract<LifeDecision, { outcome: 'claim' }> | undefined;
  readonly unfinished: boolean;
  readonly closed_from: boolean;
}

export function listUpdateNeeds(
  { record }: SeenTask,
  update: TaskUpdateWish,
  { actor, workflow }: Deciding,
): UpdateNeeds {
  const wish = decideLife(record.life, { ...update, actor }, workflow);
  return {
    claim: wish.outcome === 'claim' ? wish : undefined,
    unfinished: wish.outcome === 'close',
    closed_from: wish.outcome === 'reopen' && actor.kind === 'agent',
  };
}

export type UpdateDecision =
  | { readonly outcome: 'change'; readonly life: DecidedLife; readonly claimed: boolean }
  /** Another has it, which ends the agent loop's claim without an error. */
  | { readonly outcome: 'lost' }
  | TaskRefusal;

/** Status, state and owner of an update; `planUpdate` writes the other fields with them. */
export function decideUpdate(
  task: SeenTask,
  update: TaskUpdateWish,
  { facts, deciding }: { readonly facts: UpdateFacts; readonly deciding: Deciding },
): UpdateDecision {
  const { actor, workflow } = deciding;
  const { version, fence } = update;
  const other = decideSeen(task, { version, fence });
  if (other !== undefined) return other;
  const wish = decideLife(task.record.life, { ...update, actor }, workflow);
  if (wish.outcome === 'refused') return wish;
  if (wish.outcome === 'kept_parked') return { outcome: 'kept_parked_in', state: task.record.life.state };
  const claimed = wish.outcome === 'claim' && wish.way === 'claim' && wish.named;
  const life = wish.outcome === 'claim' ? decideWish(wish, facts.claim, deciding) : wish;
  if (life.outcome === 'refusal') return life.refusal;
  if (life.outcome === 'close' && facts.unfinished !== undefined)
    return { outcome: 'unfinished', attempt: facts.unfinished };
  const kept = life.outcome === 'reopen' ? decideReopening(facts, deciding) : undefined;
  return kept ?? { outcome: 'change', life, claimed };
}

/** The wish for an owner, by the rules of claims. */
function decideWish(
  { assignee, way }: Extract<LifeDecision, { outcome: 'claim' }>,
  facts: ClaimFacts | undefined,
  { workflow }: Deciding,
):
  | DecidedLife
  | { readonly outcome: 'refusal'; readonly refusal: TaskRefusal | { readonly outcome: 'lost' } } {
  assert(facts !== undefined, 'the facts of a claim were read for a change of owner');
  const decision = decideClaim(facts, workflow);
  if (decision.outcome === 'mine') return { outcome: 'keep' };
  if (decision.outcome === 'claim') return { ...decision, assignee };
  const isLost = decision.outcome === 'taken' && way === 'claim';
  return { outcome: 'refusal', refusal: isLost ? { outcome: 'lost' } : decision };
}

/** Throws too_large where the edit makes the task larger than a command may. */
export function planUpdate(
  { record }: SeenTask,
  { life, edit }: { readonly life: DecidedLife; readonly edit: Edit },
  { now, workflow }: Deciding,
): TaskPlan {
  const edited = editRecord(record, edit, now);
  checkMetadataSize(encodeMetadata(edited));
  checkElements(record, edited);
  const after = applyLife(edited, life, now, workflow);
  return {
    outcome: 'save',
    after,
    happening: {
      type: eventOf(record, after),
      changed: changedNames(record, after),
      reason: life.outcome === 'close' ? life.reason : null,
      claimed: life.outcome === 'claim',
    },
  };
}
