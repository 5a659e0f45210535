import type { PickRule } from '#contract/attempt.ts';
import type { Task } from '#contract/task.ts';
import { decidePick } from '#domain/decide-pick.ts';
import { isAgentFault } from '#domain/decide-suspension.ts';
import { submitTarget } from '#domain/gate-targets.ts';
import { roleOf } from '#domain/workflow.ts';
import type { ForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { Annotation } from '#domain/plan-transition.ts';
import { chooseAttempt, type Chosen } from './choose-attempt.ts';
import { countFailures } from './count-failures.ts';
import { findStanding } from './find-standing.ts';
import { PICK_CODES, pickAttempt } from './pick-attempt.ts';
import { annotate, moveAfterWork, moveOrBlock } from './settle-run.ts';
import { isAssigned, type SideHands } from './sides.ts';
import { createRun } from './start-run.ts';
import { retry } from './transition-task.ts';
import { viewAttempts, type ViewedAttempt } from './view-attempts.ts';
import type { Assignment } from './work.ts';

export interface SideEnd {
  readonly rule: PickRule;
  /** What kept an attempt from being checked. */
  readonly fault?: ForgeError | undefined;
}

/** All attempts at a task have ended: one of them goes on, or somebody has to say which. */
export async function concludeSide(
  hands: SideHands,
  assignment: Assignment,
  { rule, fault }: SideEnd,
): Promise<void> {
  const { place } = hands;
  const engine = hands.engine();
  const standing = await findStanding(engine.store, assignment.task.id);
  // Somebody has moved it on, or taken it away: what they decided stands.
  if (standing === undefined || !isAssigned(place, assignment, standing)) return;
  const { task } = standing;
  const views = await viewAttempts(place, { task_id: task.id, state: 'active' });
  const decision = decidePick(rule, views);
  switch (decision.outcome) {
    case 'picked':
      return pick(hands, assignment, { task, views, chosen: decision.candidate, why: decision.why });
    case 'ask_reviewer':
      return askReviewer(hands, assignment, { task, views, green: decision.green });
    case 'ask_person':
      return wait(hands, task, `${decision.green.length} of ${views.length} attempts are green`);
    case 'unfinished':
      // Steps that nobody trusts, a folder that cannot be committed: a person has to look.
      if (fault !== undefined) return block(hands, task, fault);
      return giveBack(hands, task, {
        code: 'run_failed',
        message: 'Forge was stopped before all attempts had ended',
      });
    case 'unavailable': {
      const why = views.flatMap(({ view }) => view.message ?? []);
      return giveBack(hands, task, {
        code: 'unavailable',
        message: `None of its agents could work: ${[...new Set(why)].join('; ')}`,
      });
    }
    case 'none_green': {
      const message = `None of ${views.length} attempts is green: forge task attempts ${task.id}; let them go on with forge run ${task.id}, or take one with forge attempt pick <attempt>`;
      await annotate(engine, task, { code: PICK_CODES.none_green, message });
      return;
    }
    case 'all_failed':
      return fail(hands, task, assignment.role);
  }
}

interface Choosing {
  readonly task: Task;
  readonly views: readonly ViewedAttempt[];
}

async function pick(
  hands: SideHands,
  assignment: Assignment,
  { task, views, chosen, why }: Choosing & { readonly chosen: ViewedAttempt; readonly why: string },
): Promise<void> {
  const reason = `attempt ${chosen.number} of ${views.length} was picked: ${why}`;
  await retry(true, async (tries) => {
    const engine = hands.engine();
    const standing = await findStanding(engine.store, task.id);
    // Somebody has moved it on, or taken it away, in this very moment: what they decided stands.
    if (standing === undefined || !isAssigned(hands.place, assignment, standing)) return;
    const now = tries === 0 ? task : standing.task;
    // So does what somebody else has chosen.
    if (tries > 0 && now.error_annotation?.code === PICK_CODES.picked) return;
    await pickAttempt(hands.place, engine, { attempt: chosen.view, version: now.version, reason });
  });
}

/** Whoever holds the gate that the work goes to chooses; a person does where that is none of ours. */
async function askReviewer(
  hands: SideHands,
  assignment: Assignment,
  { task, views, green }: Choosing & { readonly green: readonly ViewedAttempt[] },
): Promise<void> {
  const { place } = hands;
  const { workflow } = hands.engine();
  const role = roleOf(workflow, submitTarget(workflow, assignment.state) ?? '') ?? '';
  const holder = task.roles?.[role];
  const agent = holder !== undefined && 'agent' in holder ? place.agents.find(holder.agent) : undefined;
  const [first] = green;
  const attempts = green.map(({ view }) => view);
  if (agent === undefined || first === undefined)
    return wait(hands, task, `No agent has the role ${role || 'reviewer'} to choose between them`);
  const { hold } = assignment;
  const ask = async (tries: number): Promise<Chosen> => {
    const run = await createRun(place, { attempt: first.view, role, agent, hold });
    const said = await chooseAttempt(place, { task, attempts, run, agent });
    const isDone = said.outcome === 'chosen' || !said.again || place.signal.aborted;
    return isDone || tries >= LIMITS.audit_tries ? said : ask(tries + 1);
  };
  const chosen = await ask(1);
  const standing = await findStanding(hands.engine().store, task.id);
  if (standing === undefined || !isAssigned(place, assignment, standing)) return;
  const { task: now } = standing;
  const picked = chosen.outcome === 'chosen' && green.find(({ id }) => id === chosen.attempt.id);
  if (chosen.outcome === 'chosen' && picked)
    return pick(hands, assignment, { task: now, views, chosen: picked, why: `${agent.name}: ${chosen.why}` });
  if (place.signal.aborted) return;
  const why = chosen.outcome === 'none' ? chosen.message : '';
  return wait(hands, now, `${agent.name} could not choose between them (${why})`);
}

async function wait(hands: SideHands, task: Task, why: string): Promise<void> {
  const message = `${why}: forge attempt compare ${task.id}, then forge attempt pick <attempt>`;
  await annotate(hands.engine(), task, { code: PICK_CODES.wait, message });
}

async function block(hands: SideHands, task: Task, { code, message }: ForgeError): Promise<void> {
  const engine = hands.engine();
  const { blocked, initial } = engine.workflow;
  const annotation = { code, message };
  await moveOrBlock(engine, task.id, { to: blocked ?? initial, reason: message, annotation });
}

/** Back to where the next start takes it up: what has ended well is not done again. */
async function giveBack(hands: SideHands, task: Task, annotation: Annotation): Promise<void> {
  const engine = hands.engine();
  const { message } = annotation;
  await moveOrBlock(engine, task.id, { to: engine.workflow.initial, reason: message, annotation });
}

/** Nobody got as far as the checks: as it is with one attempt, by what became of the last run. */
async function fail(hands: SideHands, task: Task, role: string): Promise<void> {
  const { place } = hands;
  const active = new Set(
    (await place.store.listAttempts({ task_id: task.id, state: 'active' })).map(({ id }) => id),
  );
  const runs = await place.store.listRuns({ task_id: task.id });
  const run = runs
    .filter((one) => one.role === role && active.has(one.attempt_id) && one.ended_at !== null)
    // An agent that could not work says nothing about those that did.
    .filter(({ outcome }) => !isAgentFault(outcome))
    .toSorted((a, b) => ((a.ended_at ?? '') < (b.ended_at ?? '') ? -1 : 1))
    .at(-1);
  if (run === undefined) return;
  const { outcome, message, retry_after } = run;
  const failures = {
    count: await countFailures(place, run),
    limit: place.settings().scheduler.retry_limit,
  };
  await moveAfterWork(
    hands.engine(),
    { task, run },
    { outcome: outcome ?? 'failed', message, retry_after },
    failures,
  );
}
