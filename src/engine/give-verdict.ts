import type { Review, Verdict } from '#contract/attempt.ts';
import type { Task } from '#contract/task.ts';
import { systemActor, toTriggeredBy, type Actor } from '#domain/actor.ts';
import {
  askPeople,
  decideReview,
  decideSpeaker,
  withoutOwnAudit,
  withoutSpentAudits,
  withSetupMissing,
  type GateHolder,
} from '#domain/decide-review.ts';
import { kindOf, standingState } from '#domain/workflow.ts';
import { ForgeError } from '#kernel/errors.ts';
import type { AttemptStore } from '#store/attempt-store.ts';
import { findRepeat } from './audit-review.ts';
import type { Engine } from './engine.ts';
import type { Gates } from './gate-changes.ts';
import { readGateHolder } from './review-gate.ts';
import { settleVerdict } from './settle-verdict.ts';
import { checkFence, checkVersion } from './transition-task.ts';

export interface GivenVerdict {
  readonly id: string;
  readonly verdict: Verdict;
  /** A person in place of the holder. */
  readonly force: boolean;
  readonly version?: number | undefined;
  readonly fence?: number | undefined;
  readonly gates: Gates;
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
  const standing = await store.readStanding(given.id);
  const { task } = standing;
  checkVersion(task, given.version);
  checkFence(standing, given.fence);
  const gate = standingState(workflow, task);
  const all = await reviews.listReviews({ task_id: task.id });
  const waiting = all.at(-1);
  const workers = await listWorkers(engine, task, gate);
  const asked = withoutOwnAudit(await readGateHolder(engine.agents, workflow, { task, gate }), workers);
  const able = withoutSpentAudits(asked, await given.gates.findSpentAudits(task, asked));
  const holder = withSetupMissing(
    askPeople(able, await given.gates.listChanges(task)),
    waiting?.step_results ?? [],
  );
  const speaker = decideSpeaker(holder, { actor: by.actor, workers, force: given.force });
  if (speaker.outcome === 'refused') throw refuse(task, { holder, actor: by.actor, why: speaker.why });
  if (kindOf(workflow, gate) !== 'gate' || waiting?.status !== 'waiting')
    throw notWaiting(task, gate, waiting);
  const work = await engine.work?.();
  const settle = async (): Promise<{ task: Task; review: Review }> => {
    const { verdict } = given;
    const facts = { holder, has_attempt: waiting.attempt_id !== null, steps: waiting.step_results, verdict };
    const status = decideReview(facts).answer === 'passed' ? 'passed' : 'failed';
    // Before anything follows on it: a merge runs what was allowed.
    if (status === 'passed' && by.actor.kind === 'user') await given.gates.allow(task, waiting, by);
    const forced = speaker.outcome === 'forced';
    const said = { verdict, verdict_by: toTriggeredBy(by.actor), forced };
    const { fence } = given;
    const review = await reviews.finishReview({ id: waiting.id, status, fence, ...said }, by);
    // What a verdict leads to is Forge's own doing: an agent's no counts as the gate's.
    const system = { ...by, actor: systemActor(''), holding: undefined, now: engine.clock.now() };
    const leads_on = work?.merges_by_itself === true;
    const why = findRepeat(all, review);
    const settled = { task, gate, review, why, leads_on };
    return { task: await settleVerdict({ ...engine, by: system }, settled), review };
  };
  // Who does not stay starts nobody, and must not be taken for somebody who was about to.
  return work === undefined || engine.follows !== true ? settle() : work.during(task.id, settle);
}

/** Whose work it is: the owner, whoever made the attempt, and the agent that handed it in. */
async function listWorkers({ store }: Engine, { id, assignee }: Task, gate: string): Promise<string[]> {
  const attempts = await store.listAttempts({ task_id: id, state: 'active' });
  const entry = await store.findMove({ id, to_state: gate, changes_state: true });
  const handed = entry?.triggered_by ?? '';
  const agent = handed.startsWith('agent:') ? handed.slice('agent:'.length) : null;
  return [assignee, agent, ...attempts.map((one) => one.agent)].filter((name) => name !== null);
}

function refuse(
  { id }: Task,
  { holder, actor, why }: { readonly holder: GateHolder; readonly actor: Actor; readonly why: string },
): ForgeError {
  const hint = actor.kind === 'agent' ? `forge task roles ${id}` : `forge review ${id} pass --force`;
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
