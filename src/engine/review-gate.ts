import type { Attempt, Review, StepResult } from '#contract/attempt.ts';
import type { Task } from '#contract/task.ts';
import {
  askPeople,
  decideReview,
  findGateHolder,
  findPass,
  type GateHolder,
  type PassFacts,
  type ReviewDecision,
  withoutOwnAudit,
  withoutSpentAudits,
} from '#domain/decide-review.ts';
import { DIFF_COMMAND } from '#domain/diff-command.ts';
import { rejectionTarget } from '#domain/gate-targets.ts';
import { roleOf, type ResolvedWorkflow } from '#domain/workflow.ts';
import { toIso } from '#kernel/clock.ts';
import { ForgeError, isForgeError } from '#kernel/errors.ts';
import type { Json } from '#kernel/json.ts';
import { nameFiles } from '#kernel/name-files.ts';
import { openControl, findWorkspace } from './attempt-workspace.ts';
import type { ActionOutcome } from './actions.ts';
import { refuseStep, runReviewSteps } from './check-steps.ts';
import type { AgentFacts, Engine } from './engine.ts';
import { findGateChanges, listUnread, noteUnread } from './gate-changes.ts';
import { readSpentAudits } from './read-spent-audits.ts';
import { annotate, harvestAttempt } from './settle-run.ts';
import { systemWriter, type WorkPlace } from './work.ts';

/** The commands that decide whether a task may pass: its own, else the project's. */
export function listSteps(
  place: Pick<WorkPlace, 'settings'>,
  task: Pick<Task, 'review_config'>,
): readonly string[] {
  return task.review_config?.ci_steps ?? place.settings().review.ci_steps;
}

/** Whether every check of the task, and every set-up command, may run here as it is now. */
export async function trustsChecks(
  place: Pick<WorkPlace, 'settings' | 'trust'>,
  task: Pick<Task, 'review_config'>,
): Promise<boolean> {
  try {
    await place.trust.require([...place.settings().workspace.setup, ...listSteps(place, task)]);
    return true;
  } catch (error) {
    if (isForgeError(error) && error.code === 'untrusted') return false;
    throw error;
  }
}

/** What can be said before the task moves. */
export async function checkReviewable(place: WorkPlace, task: Task): Promise<void> {
  const steps = listSteps(place, task);
  const { length } = await place.store.listAttempts({ task_id: task.id, state: 'active' });
  if (length > 1) throw undecided(task, length);
  if (steps.length === 0) return;
  await place.trust.require(steps);
  if (length > 0) return;
  throw new ForgeError('state_invalid', `${task.id} has no attempt that its checks could run on`, {
    hint: `forge run ${task.id} --agent <name>`,
    details: { id: task.id, ci_steps: steps },
  });
}

/** A gate is for one attempt: somebody has to say for which. */
export function undecided({ id }: Task, count: number): ForgeError {
  return new ForgeError('state_invalid', `${id} has ${count} unfinished attempts`, {
    hint: `forge attempt compare ${id}, then forge attempt pick <attempt>`,
    details: { id, attempts: count },
  });
}

/** Who has the role of the gate, and whether Forge starts them. */
export async function readGateHolder(
  agents: AgentFacts,
  workflow: ResolvedWorkflow,
  { task, gate }: { readonly task: Pick<Task, 'roles'>; readonly gate: string },
): Promise<GateHolder> {
  const holder = task.roles?.[roleOf(workflow, gate) ?? ''];
  const managed = holder !== undefined && 'agent' in holder && (await agents.isManaged(holder.agent));
  return findGateHolder(workflow, task, { gate, isManaged: () => managed });
}

interface Checked {
  readonly task: Task;
  readonly attempt: Attempt;
  /** Whose word is asked for besides the checks. */
  readonly holder: GateHolder;
  /** One of several attempts side by side: what must not be run counts as a check that failed. */
  readonly is_side?: boolean | undefined;
}

interface CheckedReview {
  /** Scripts that no person has allowed to run as the attempt has them, for which no check was run. */
  readonly unread: readonly string[];
  readonly review: Review;
  readonly decision: ReviewDecision;
}

/**
 * The checks on exactly one commit of the attempt. Gives the review as it stands afterwards: over, or open because the
 * holder of the gate has yet to look at it.
 */
export async function checkAttempt(place: WorkPlace, checked: Checked): Promise<CheckedReview> {
  return place.folders.hold(checked.attempt, 'review', () => checkHeld(place, checked));
}

async function checkHeld(
  place: WorkPlace,
  { task, attempt, holder, is_side = false }: Checked,
): Promise<CheckedReview> {
  const { store, watcher } = place;
  const steps = listSteps(place, task);
  await place.trust.require(steps);
  const { head } = await harvestAttempt(place, { task, attempt, agent: attempt.agent });
  const review = await store.startReview(
    { id: crypto.randomUUID(), task_id: task.id, attempt_id: attempt.id, head_commit: head, watcher },
    systemWriter(place),
  );
  place.watch({ kind: 'review', review });
  const finished = (result: StepResult): Promise<void> => noteStep(place, review.id, result);
  const noteRefused = async (command: string, scripts: readonly string[]): Promise<StepResult> => {
    const result = refuseStep(command, scripts);
    await finished(result);
    return result;
  };
  const judged = { ...attempt, head_commit: head };
  const unread = await listUnread(place, judged, task);
  const results =
    unread.length === 0
      ? await runReviewSteps(place, {
          attempt,
          steps,
          commit: head,
          gate_id: review.id,
          review_id: review.id,
          finished,
        })
      : is_side
        ? [await noteRefused(steps[0] ?? '', unread)]
        : [];
  await noteUnread(place, { attempt: judged, task, review, unread });
  const able = withoutSpentAudits(holder, await readSpentAudits(place, judged, holder));
  const asked = askPeople(able, await findGateChanges(place, judged, task));
  const decision = decideReview({ holder: asked, has_attempt: true, steps: results, verdict: null });
  return { review: await noteDecision(place, review, decision), decision, unread };
}

/** A review after its checks: what is decided is over, what somebody has to look at is not. */
async function noteDecision(place: WorkPlace, review: Review, decision: ReviewDecision): Promise<Review> {
  const { store } = place;
  const by = systemWriter(place);
  const end = (status: 'passed' | 'failed' | 'void'): Promise<Review> =>
    store.finishReview({ id: review.id, status }, by);
  const note = async (): Promise<Review> => {
    switch (decision.answer) {
      case 'audit':
        return review;
      case 'waits_for_holder':
        return store.askVerdict({ id: review.id }, by);
      case 'cut_off':
        return end('void');
      case 'failed':
      case 'passed':
        return end(decision.answer);
    }
  };
  const noted = await note();
  if (noted !== review) place.watch({ kind: 'review', review: noted });
  return noted;
}

/** Whether the attempt may be merged as far as its review is concerned. */
export async function readPass(place: WorkPlace, task: Task, attempt: Attempt): Promise<PassFacts> {
  const reviews = await place.store.listReviews({ task_id: task.id });
  return findPass(task, attempt, { reviews, gate_changes: await findGateChanges(place, attempt, task) });
}

/** Starts the agent that looks at it besides; what it finds is told later. */
export type Auditor = (review: Review) => Promise<ActionOutcome>;

/** One whole cycle: what passed before counts no more, whatever comes of this one. */
export async function reviewTask(
  place: WorkPlace,
  engine: Engine,
  { task, gate, audit }: { readonly task: Task; readonly gate: string; readonly audit: Auditor },
): Promise<ActionOutcome> {
  const holder = await readGateHolder(place.agents.facts, engine.workflow, { task, gate });
  await forgetPass(engine, task);
  const workspace = await findWorkspace(place, await openControl(place), task.id);
  const { review, decision, unread } =
    workspace === undefined
      ? await noteEmptyReview(place, task, holder)
      : await checkAttempt(place, {
          task,
          attempt: workspace.attempt,
          holder: withoutOwnAudit(holder, [task.assignee, workspace.attempt.agent]),
        });
  switch (decision.answer) {
    case 'cut_off':
      return { outcome: 'failed', message: 'Forge was stopped during the checks' };
    case 'failed':
      return reject(engine, gate, decision.reason);
    case 'audit':
      return audit(review);
    case 'waits_for_holder':
      if (unread.length > 0)
        await noteGateChanges(engine, task, describeUnread(task, unread, workspace?.attempt));
      else if (decision.changes !== undefined)
        await noteGateChanges(engine, task, describeChanges(task, decision.changes, workspace?.attempt));
      if (decision.why !== undefined)
        await annotate(engine, task, { code: decision.why.code, message: decision.why.why });
      return { outcome: 'passed', message: `waits for the word of ${decision.name}` };
    case 'passed':
      await passReview(engine, task, review);
      return {
        outcome: 'passed',
        message: workspace === undefined ? 'nothing to check' : `review ${review.id} passed`,
      };
  }
}

/** Why a person has to look at it, until it is moved on. */
async function noteGateChanges({ store, by }: Engine, { id }: Task, message: string): Promise<void> {
  const note = { code: 'gate_changed', message, at: toIso(by.now) };
  await store.updateTask({ id, workflow_fields: new Map([['error_annotation', note]]) }, by);
}

function describeChanges({ id }: Task, files: readonly string[], attempt: Attempt | undefined): string {
  return (
    `It changes ${nameFiles(files)}, by which work is judged: a person has to pass it. ` +
    `${toLook(files, attempt)}, then \`forge review ${id} pass\`, or ${toReject(id)}`
  );
}

function describeUnread({ id }: Task, files: readonly string[], attempt: Attempt | undefined): string {
  return (
    `Its checks were not run: they would run ${nameFiles(files)}, which no person has allowed in this form. ` +
    `${toLook(files, attempt)}, then \`forge review ${id} pass\` allows it, and the checks run before the merge; or ` +
    toReject(id)
  );
}

function toLook(files: readonly string[], attempt: Attempt | undefined): string {
  if (attempt === undefined) return 'Look at it';
  // A name that would have to be quoted may read like another command: all of it is shown then.
  const shown = files.every((file) => /^[\w.@+][\w./@+-]*$/.test(file)) ? ` -- ${files.join(' ')}` : '';
  return `Look at it: \`${DIFF_COMMAND} ${attempt.target}...${attempt.branch}${shown}\``;
}

function toReject(id: string): string {
  return `\`forge review ${id} reject --reason "…"\``;
}

/** Every time that a task enters the gate has its row. */
async function noteEmptyReview(place: WorkPlace, task: Task, holder: GateHolder): Promise<CheckedReview> {
  const { store, watcher } = place;
  const none = { attempt_id: null, head_commit: null };
  const review = await store.startReview(
    { id: crypto.randomUUID(), task_id: task.id, ...none, watcher },
    systemWriter(place),
  );
  const decision = decideReview({ holder, has_attempt: false, steps: [], verdict: null });
  return { review: await noteDecision(place, review, decision), decision, unread: [] };
}

export function reject(engine: Engine, gate: string, reason: string): ActionOutcome {
  const to = rejectionTarget(engine.workflow, gate);
  return to === undefined ? { outcome: 'failed', message: reason } : { outcome: 'cascaded', to, reason };
}

/** From now on the task may go on to the next gate. A review that was cleared meanwhile opens nothing. */
export async function passReview(
  { store, by }: Engine,
  task: Task,
  { status, finished_at }: Review,
  /** Only while it is the task's. */
  fence?: number,
): Promise<Task> {
  if (status !== 'passed') return task;
  const workflow_fields = new Map<string, Json>([['review_passed_at', finished_at]]);
  // Why it had to wait is over.
  if (task.error_annotation !== undefined) workflow_fields.set('error_annotation', null);
  return store.updateTask({ id: task.id, fence, workflow_fields }, by);
}

async function forgetPass({ store, by }: Engine, task: Task): Promise<void> {
  if (task.review_passed_at === undefined) return;
  await store.updateTask({ id: task.id, workflow_fields: new Map([['review_passed_at', null]]) }, by);
}

async function noteStep(place: WorkPlace, id: string, result: StepResult): Promise<void> {
  place.watch({
    kind: 'review',
    review: await place.store.addStepResult({ id, result }, systemWriter(place)),
  });
}
