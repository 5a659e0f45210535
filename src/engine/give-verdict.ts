import type { Review, Verdict } from '#contract/attempt.ts';
import type { Task } from '#contract/task.ts';
import { systemActor, toTriggeredBy } from '#domain/actor.ts';
import { decideReview, decideSpeaker, type GateHolder } from '#domain/decide-review.ts';
import { kindOf, standingState } from '#domain/workflow.ts';
import { ForgeError } from '#kernel/errors.ts';
import type { AttemptStore } from '#store/attempt-store.ts';
import { findRepeat } from './audit-review.ts';
import type { Engine } from './engine.ts';
import { readGateHolder } from './review-gate.ts';
import { settleVerdict } from './settle-verdict.ts';
import { checkVersion } from './transition-task.ts';

export interface GivenVerdict {
  readonly id: string;
  readonly verdict: Verdict;
  /** A person in place of the holder. */
  readonly force: boolean;
  readonly version?: number | undefined;
}

/**
 * The word of the holder of a gate: a person, or an agent that Forge does not start. What follows is what follows on
 * the verdict of an auditor.
 */
export async function giveVerdict(
  engine: Engine,
  reviews: Pick<AttemptStore, 'listReviews' | 'finishReview'>,
  given: GivenVerdict,
): Promise<{ readonly task: Task; readonly review: Review }> {
  const { workflow, by, store } = engine;
  const { task } = await store.readStanding(given.id);
  checkVersion(task, given.version);
  const gate = standingState(workflow, task);
  const all = await reviews.listReviews({ task_id: task.id });
  const waiting = all.at(-1);
  const holder = await readGateHolder(engine.agents, workflow, { task, gate });
  const attempts = await store.listAttempts({ task_id: task.id, state: 'active' });
  const speaker = decideSpeaker(holder, {
    actor: by.actor,
    workers: [task.assignee, ...attempts.map(({ agent }) => agent)].filter((name) => name !== null),
    force: given.force,
  });
  if (speaker.outcome === 'refused') throw refuse(task, holder, speaker.why);
  if (kindOf(workflow, gate) !== 'gate' || waiting?.status !== 'waiting')
    throw notWaiting(task, gate, waiting);
  const work = await engine.work?.();
  const settle = async (): Promise<{ task: Task; review: Review }> => {
    const { verdict } = given;
    const facts = { holder, has_attempt: waiting.attempt_id !== null, steps: waiting.step_results, verdict };
    const status = decideReview(facts).answer === 'passed' ? 'passed' : 'failed';
    const forced = speaker.outcome === 'forced';
    const said = { verdict, verdict_by: toTriggeredBy(by.actor), forced };
    const review = await reviews.finishReview({ id: waiting.id, status, ...said }, by);
    // What a verdict leads to is Forge's own doing: a no counts as the gate's, whoever said it.
    const system = { ...by, actor: systemActor(''), holding: undefined, now: engine.clock.now() };
    const leads_on = work?.merges_by_itself === true;
    const why = findRepeat(all, review);
    const settled = { task, gate, review, why, leads_on };
    return { task: await settleVerdict({ ...engine, by: system }, settled), review };
  };
  return work === undefined ? settle() : work.during(task.id, settle);
}

function refuse({ id }: Task, holder: GateHolder, why: string): ForgeError {
  const hint =
    holder.kind === 'person'
      ? `forge --actor ${JSON.stringify(`user:${holder.name}`)} review ${id} pass`
      : `forge review ${id} pass --force`;
  return new ForgeError('permission_denied', `The review of ${id}: ${why}`, {
    hint,
    details: { id, holder },
  });
}

function notWaiting({ id }: Task, state: string, last: Review | undefined): ForgeError {
  const what = last === undefined ? 'it was not reviewed' : `its last review is ${last.status}`;
  return new ForgeError('state_invalid', `${id} waits for no word: it is in ${state}, and ${what}`, {
    hint: `forge task reviews ${id}`,
    details: { id, state, review: last?.id ?? null, status: last?.status ?? null },
  });
}
