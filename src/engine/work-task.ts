import type { WorkedTask } from '#contract/run-task-operations.ts';
import type { Task } from '#contract/task.ts';
import { explainRefusal } from '#domain/explain-refusal.ts';
import { REPAIRED_MERGES } from '#domain/find-wait.ts';
import { passTarget } from '#domain/gate-targets.ts';
import { isMerging, kindOf, standingState } from '#domain/workflow.ts';
import { ForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { followEvents } from '#store/follow-events.ts';
import { claimTask } from './change-task.ts';
import type { Engine } from './engine.ts';
import { findWatch } from './find-watch.ts';
import { readWait, type WaitPlace } from './read-wait.ts';
import { resumeTasks } from './resume-tasks.ts';
import { findRefusedGate } from './retry-postponed.ts';
import type { SideWishes } from './sides.ts';
import { transitionTask } from './transition-task.ts';
import { findTarget } from './attempt-workspace.ts';
import { trustsChecks, undecided } from './review-gate.ts';
import { viewAttempts } from './view-attempts.ts';
import type { WorkPlace } from './work.ts';
import type { Workshop } from './workshop.ts';

export interface WorkWish {
  readonly id: string;
  /** Left out for a task that only has to be merged: nobody works on that any more. */
  readonly agent: string | undefined;
  readonly merge: boolean;
  /** Several at once; one by `agent` where it is left out. */
  readonly attempts?: SideWishes | undefined;
  /** A shorter one for tests. */
  readonly unwatched_ms?: number | undefined;
}

/** One task by one agent, or by several side by side, to the end of its review; with `merge` to its end. */
export async function workTask(
  workshop: Workshop,
  asked: Engine,
  { id, agent, merge, attempts, unwatched_ms }: WorkWish,
): Promise<WorkedTask> {
  const engine = { ...asked, attempts };
  const { store } = engine;
  // What was left by a process that is gone has been taken up before.
  const isResumed = workshop.isAtWork(id);
  await workshop.settled(id);
  const before = await store.getTask(id);
  if (isOpen(engine, before)) {
    const assignee = agent ?? refuseNobody(workshop, before);
    // Before it is claimed: a repository without a commit says nothing about the task.
    await findTarget(workshop.place);
    const claim = await claimTask(atNow(workshop, engine), { id: before.id, assignee, force: false });
    if (claim.outcome !== 'claimed') throw explainRefusal(claim);
  } else if (merge && findRefusedGate(engine.workflow, before) !== undefined) {
    await mergeAgain(workshop, engine, before);
  } else if (merge && isMerging(engine.workflow, standingState(engine.workflow, before))) {
    await takeUpMerge(workshop, engine, { id: before.id, unwatched_ms });
  } else if (agent !== undefined && isUnfit(engine, before)) {
    await repairAgain(atNow(workshop, engine), { task: before, agent });
  } else if (!isResumed && !hasPassed(engine, before)) {
    await resume(workshop, engine, { task: before, agent });
  }
  await workshop.settled(before.id);
  if (merge) await mergePassed(workshop, engine, before.id);
  return describeWork(workshop, engine, { id: before.id, merge });
}

/** Its merge did not fit the target, and the agent that made it has had its chance: a person lets it try once more. */
function isUnfit({ workflow }: Engine, task: Task): boolean {
  const isAside = kindOf(workflow, standingState(workflow, task)) === 'custom';
  return isAside && REPAIRED_MERGES.has(task.error_annotation?.code ?? '');
}

async function repairAgain(
  engine: Engine,
  { task, agent }: { readonly task: Task; readonly agent: string },
): Promise<void> {
  const claim = await claimTask(engine, { id: task.id, assignee: agent, force: false });
  if (claim.outcome !== 'claimed') throw explainOwned(engine, task, explainRefusal(claim));
  const { workflow } = engine;
  const to = workflow.states
    .get(standingState(workflow, task))
    ?.next?.find((name) => kindOf(workflow, name) === 'active');
  if (to === undefined) return;
  const reason = `${agent} makes it fit`;
  await transitionTask(engine, { id: task.id, to, reason });
}

/** Work that the caller has is given back first: an agent takes no task from a person. */
function explainOwned({ by }: Engine, { id, assignee }: Task, refusal: ForgeError): ForgeError {
  if (refusal.code !== 'claim_conflict' || assignee !== by.actor.name) return refusal;
  const { code, message, details } = refusal;
  return new ForgeError(code, message, { hint: `forge release ${id}`, details });
}

/** What was in the way of its merge may be gone. */
async function mergeAgain(workshop: Workshop, engine: Engine, task: Task): Promise<void> {
  const to = findRefusedGate(engine.workflow, task);
  if (to === undefined || workshop.isAtWork(task.id)) return;
  await transitionTask(atNow(workshop, engine), { id: task.id, to, reason: null });
}

/** Onto its target, where it has passed its review. */
export async function mergePassed(workshop: Workshop, engine: Engine, id: string): Promise<void> {
  const { store, workflow } = engine;
  const passes = new Map<string, number>();
  while (true) {
    const { task } = await store.readStanding(id);
    const state = standingState(workflow, task);
    const next = passTarget(workflow, state);
    if (!hasPassed(engine, task) || next === undefined) break;
    // A merge that was cut off has not happened: nothing but the merge leads on, and the next start takes it up.
    if (isMerging(workflow, state) || workshop.place.signal.aborted) break;
    const pass = (passes.get(state) ?? 0) + 1;
    if (pass > MERGE_TRIES) break;
    passes.set(state, pass);
    await transitionTask(atNow(workshop, engine), { id: task.id, to: next, reason: null });
    await workshop.settled(task.id);
  }
}

/**
 * A task that stands in its merge with no process at it: the disk was full, or a process was killed, between two writes. It is
 * taken up when no other process can still be about to claim it.
 */
async function takeUpMerge(
  workshop: Workshop,
  { store, workflow }: Engine,
  { id, unwatched_ms = LIMITS.unwatched_ms }: Pick<WorkWish, 'id' | 'unwatched_ms'>,
): Promise<void> {
  const { place } = workshop;
  const entered = (await store.listTransitions({ id, limit: 1 })).at(-1)?.created_at ?? '';
  const until = (Date.parse(entered) || 0) + unwatched_ms;
  const events = await followEvents(place.store);
  for (let isLast = false; !place.signal.aborted;) {
    const { task } = await store.readStanding(id);
    if (!isMerging(workflow, standingState(workflow, task)) || task.archived_at !== undefined) return;
    if ((await findWatch(place, id))?.is_others === true) return;
    await resumeTasks(workshop, { only: new Set([id]), unwatched_ms });
    if (workshop.isAtWork(id)) return workshop.settled(id);
    if (isLast) return;
    isLast = place.clock.now() >= until;
    // Which process is at work on it is no event.
    const timeout_ms = Math.min(LIMITS.dispatch_poll_ms, unwatched_ms);
    await events.next({ signal: place.signal, timeout_ms });
  }
}

function refuseNobody({ place }: Workshop, { id, state }: Task): never {
  const names = place.agents.list().map(({ name }) => name);
  const known = names.length === 0 ? 'there is no agent yet' : `there is ${names.join(', ')}`;
  const hint =
    names.length === 0 ? 'forge agent add worker-1 --executor claude' : `forge run ${id} --agent ${names[0]}`;
  throw new ForgeError(
    'usage',
    `${id} is in ${state} and needs an agent that works on it: --agent is missing; ${known}`,
    { hint, details: { id, state, agents: names } },
  );
}

/** Several attempts are finished: what is missing is a choice, and no agent. */
async function refuseUnpicked({ place }: Workshop, task: Task): Promise<void> {
  const wait = await readWait(toWaitPlace(place), task);
  if (wait?.kind !== 'pick') return;
  const attempts = await place.store.listAttempts({ task_id: task.id, state: 'active' });
  throw undecided(task, attempts.length);
}

/** It may be long since the command was given. */
function atNow({ place }: Workshop, engine: Engine): Engine {
  return { ...engine, by: { ...engine.by, now: place.clock.now() } };
}

/** A merge that fails sends the work back once, and then it is merged again: so often does a task pass the same gate. */
const MERGE_TRIES = 3;

/** Taken up where it was left: by the one whose it is. */
async function resume(
  workshop: Workshop,
  engine: Engine,
  { task, agent: named }: { readonly task: Task; readonly agent: string | undefined },
): Promise<void> {
  const { workflow, attempts } = engine;
  const state = standingState(workflow, task);
  if (kindOf(workflow, state) !== 'active') {
    throw new ForgeError(
      'state_invalid',
      `${task.id} is in ${state}${task.assignee === null ? '' : `, ${task.assignee}'s`}`,
      {
        hint: (await readWait(toWaitPlace(workshop.place), task))?.command ?? `forge task show ${task.id}`,
        details: { id: task.id, state, assignee: task.assignee },
      },
    );
  }
  if (named === undefined) await refuseUnpicked(workshop, task);
  const agent = named ?? refuseNobody(workshop, task);
  const agents = [agent, ...(attempts?.agents ?? [])];
  // Also what is the agent's own already is under the rules of claims: what is paused is not started.
  const owner = agents.find((name) => name === task.assignee) ?? agent;
  const claim = await claimTask(atNow(workshop, engine), { id: task.id, assignee: owner, force: false });
  if (claim.outcome !== 'claimed') throw explainOwned(engine, task, explainRefusal(claim));
  await workshop.resume(claim.task, owner, attempts);
}

/** Where a task got to, and what it waits for. */
export async function describeWork(
  { place }: Workshop,
  engine: Engine,
  { id, merge }: { readonly id: string; readonly merge: boolean },
): Promise<WorkedTask> {
  const { store } = place;
  const { task } = await engine.store.readStanding(id);
  const [attempts, reviews, merges] = await Promise.all([
    store.listAttempts({ task_id: task.id }),
    store.listReviews({ task_id: task.id }),
    store.listMerges({ task_id: task.id }),
  ]);
  // Of several the one that was picked; none as long as nobody has.
  const isUndecided = attempts.filter(({ state }) => state === 'active').length > 1;
  const picked = attempts.findLast(({ state }) => state !== 'archived') ?? attempts.at(-1) ?? null;
  const attempt = isUndecided ? null : picked;
  const isOfAttempt = ({ attempt_id }: { readonly attempt_id: string | null }): boolean =>
    attempt_id === attempt?.id;
  const wait = await readWait(toWaitPlace(place), task);
  const ended = kindOf(engine.workflow, standingState(engine.workflow, task)) === 'terminal';
  return {
    task,
    attempt,
    runs: await store.listRuns(attempt === null ? { task_id: task.id } : { attempt_id: attempt.id }),
    review: reviews.findLast(isOfAttempt) ?? null,
    merge: merges.findLast(isOfAttempt) ?? null,
    attempts:
      attempts.length > 1 ? (await viewAttempts(place, { task_id: task.id })).map(({ view }) => view) : [],
    reached: merge ? ended && task.state === engine.workflow.closed : ended || hasPassed(engine, task),
    wait: wait === undefined ? null : { message: wait.message, command: wait.command },
  };
}

function toWaitPlace(place: WorkPlace): WaitPlace {
  return {
    store: place.store,
    workflow: place.workflow(),
    isManaged: (agent) => place.agents.facts.isManaged(agent),
    trustsChecks: (task) => trustsChecks(place, task),
  };
}

function isOpen({ workflow }: Engine, task: Task): boolean {
  const kind = kindOf(workflow, standingState(workflow, task));
  return kind === 'initial' || kind === 'backlog';
}

/** It waits behind a gate that it has passed. */
function hasPassed({ workflow }: Engine, task: Task): boolean {
  return kindOf(workflow, standingState(workflow, task)) === 'gate' && task.review_passed_at !== undefined;
}
