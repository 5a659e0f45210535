import type { Attempt, Merge, Review, Run } from '#contract/attempt.ts';
import type { Task } from '#contract/task.ts';
import type { Suspension } from './decide-suspension.ts';
import { decideReview, doesOnEnter, type GateHolder } from './decide-review.ts';
import { endsAsDone, kindOf, roleOf, standingState, type ResolvedWorkflow } from './workflow.ts';
import { isPlanning } from './gate-targets.ts';
import { isEnded } from './run-states.ts';

/** All that the rows say of a task that nobody goes on with. */
export interface LostTask {
  readonly task: Task;
  /** When it came to where it is. */
  readonly entered_at: string;
  /** The agent that has it is Forge's to start, and whoever brought it here was at that. */
  readonly was_starting: boolean;
  /** What has passed its review goes on by itself. */
  readonly leads_on: boolean;
  /** Whose word the gate asks for in which the task stands; nobody's elsewhere. */
  readonly holder: GateHolder;
  /** Why the agent that audits is not started now. */
  readonly suspension?: Suspension | undefined;
  /** The oldest first, as the store gives them. */
  readonly attempts: readonly Attempt[];
  readonly runs: readonly Run[];
  readonly reviews: readonly Review[];
  readonly merges: readonly Merge[];
}

export type ResumeStep =
  /** Nothing is missing: it waits for somebody, or somebody is at work. */
  | { readonly step: 'none' }
  /** Claimed for an agent that was never started. */
  | { readonly step: 'give_back' }
  /** Its run says where the task goes. */
  | { readonly step: 'conclude'; readonly run: Run }
  /** Several attempts have ended, and nobody has chosen yet. */
  | { readonly step: 'compare' }
  /** What the state does with a task that comes to it, again. */
  | { readonly step: 'enter' }
  /** Its end is done with it if its work is in the target; else that waits for a person. */
  | { readonly step: 'look_landed' }
  /** Its auditor cannot work now. */
  | { readonly step: 'wait'; readonly suspension: Suspension }
  | { readonly step: 'pass'; readonly review: Review }
  | { readonly step: 'reject'; readonly review: Review }
  | { readonly step: 'land'; readonly merge: Merge }
  | { readonly step: 'set_aside'; readonly merge: Merge }
  /** The coder was to have another go at what did not fit. */
  | { readonly step: 'repair'; readonly merge: Merge };

const NONE: ResumeStep = { step: 'none' };

/** What a process that was killed would have done next. By kinds and hooks of the states: no name means anything. */
export function decideResume(workflow: ResolvedWorkflow, lost: LostTask): ResumeStep {
  const state = standingState(workflow, lost.task);
  const kind = kindOf(workflow, state);
  const step = findStep(workflow, lost, state);
  // What is archived waits where it is until it is taken out again; only what has landed has landed.
  const isKept = lost.task.archived_at !== undefined && kind !== 'terminal' && step.step !== 'land';
  return isKept ? NONE : step;
}

function findStep(workflow: ResolvedWorkflow, lost: LostTask, state: string): ResumeStep {
  switch (kindOf(workflow, state)) {
    case 'active':
      return resumeWork(workflow, lost, state);
    case 'gate':
      return resumeGate(workflow, lost, state);
    case 'terminal':
      return resumeEnd(workflow, lost, state);
    case 'custom':
      return resumeRepair(lost);
    case 'backlog':
    case 'initial':
    case undefined:
      return NONE;
  }
}

function resumeWork(workflow: ResolvedWorkflow, lost: LostTask, state: string): ResumeStep {
  const role = roleOf(workflow, state);
  const active = lost.attempts.filter((one) => one.state === 'active').map(({ id }) => id);
  const runs = lost.runs.filter((one) => one.role === role && one.created_at >= lost.entered_at);
  if (active.length > 1 && !isPlanning(workflow, state)) return resumeSides(lost, runs);
  // Of several attempts the one that was picked speaks.
  const run = runs.findLast((one) => active.includes(one.attempt_id)) ?? runs.at(-1);
  if (run === undefined) return lost.was_starting ? { step: 'give_back' } : NONE;
  if (!isEnded(run.state)) return NONE;
  // Whoever stopped it has said so, and says what comes next.
  if (
    (run.outcome === 'stopped' || run.outcome === 'cap_reached') &&
    lost.task.error_annotation !== undefined
  )
    return NONE;
  return { step: 'conclude', run };
}

const FOR_A_PERSON: ReadonlySet<string> = new Set([
  'pick_attempt',
  'no_green_attempt',
  'stopped',
  'cap_reached',
]);

function resumeSides({ task, was_starting }: LostTask, runs: readonly Run[]): ResumeStep {
  if (runs.some((run) => !isEnded(run.state))) return NONE;
  const { code, at = '' } = task.error_annotation ?? {};
  const isTold = runs.every(({ ended_at }) => (ended_at ?? '') <= at);
  // Somebody is to choose, or has stopped it and says what comes next.
  if (isTold && code !== undefined && FOR_A_PERSON.has(code)) return NONE;
  return runs.length > 0 || was_starting ? { step: 'compare' } : NONE;
}

function resumeGate(workflow: ResolvedWorkflow, lost: LostTask, state: string): ResumeStep {
  // What has no attempt on this machine is no business of it.
  const attempt = lost.attempts.findLast((one) => one.state === 'active' || one.state === 'merged');
  if (attempt === undefined) return NONE;
  const merge = lost.merges.findLast((one) => isOf(attempt, one) && one.queued_at >= lost.entered_at);
  if (merge !== undefined) return resumeMerge(merge);
  if (doesOnEnter(workflow, state, 'run_merge')) return { step: 'enter' };
  return doesOnEnter(workflow, state, 'run_ci_steps') ? resumeReview(lost, attempt) : NONE;
}

function resumeMerge(merge: Merge): ResumeStep {
  switch (merge.state) {
    case 'queued':
    case 'started':
      return NONE;
    case 'landed':
      return { step: 'land', merge };
    case 'dropped':
      return { step: 'enter' };
    case 'conflict':
    case 'ci_failed':
    case 'refused':
    case 'postponed':
      return { step: 'set_aside', merge };
  }
}

/** Only what came here from its merge, by somebody who was to go on, and that nobody has had a go at since. */
function resumeRepair({ attempts, runs, merges, was_starting }: LostTask): ResumeStep {
  const attempt = attempts.findLast(({ state }) => state === 'active');
  const merge = merges.at(-1);
  if (attempt === undefined || merge === undefined || !was_starting || !isOf(attempt, merge)) return NONE;
  const isFailed = merge.state === 'conflict' || merge.state === 'ci_failed';
  const isTried = runs.some(({ created_at }) => created_at >= (merge.finished_at ?? ''));
  return isFailed && !isTried ? { step: 'repair', merge } : NONE;
}

function resumeReview(lost: LostTask, attempt: Attempt): ResumeStep {
  const review = lost.reviews.findLast((one) => isOf(attempt, one) && one.started_at >= lost.entered_at);
  if (review?.status === 'void' && lost.suspension !== undefined)
    return { step: 'wait', suspension: lost.suspension };
  if (review === undefined || review.status === 'void') return { step: 'enter' };
  if (review.status === 'running') return NONE;
  if (review.head_commit !== attempt.head_commit) return { step: 'enter' };
  if (review.status === 'failed') return { step: 'reject', review };
  if (review.status === 'waiting') return resumeWaiting(lost, review);
  const isNoted = lost.task.review_passed_at === review.finished_at;
  return isNoted && !lost.leads_on ? NONE : { step: 'pass', review };
}

/** The role may have been given to somebody else since, or to nobody. */
function resumeWaiting({ holder }: LostTask, review: Review): ResumeStep {
  const { step_results: steps, verdict } = review;
  switch (decideReview({ holder, has_attempt: true, steps, verdict }).answer) {
    case 'audit':
      return { step: 'enter' };
    case 'passed':
      return { step: 'pass', review };
    case 'waits_for_holder':
    case 'cut_off':
    case 'failed':
      return NONE;
  }
}

/** The folders go when a task ends; which of them, and when, was written down before anything was removed. */
function resumeEnd(workflow: ResolvedWorkflow, { attempts }: LostTask, state: string): ResumeStep {
  // Closed elsewhere, and joined: no person here has given its work up.
  if (endsAsDone(workflow, state) && attempts.some((one) => one.state === 'active'))
    return { step: 'look_landed' };
  const isLeft = attempts.some(
    ({ removed_at, cleanup_at, state }) => removed_at === null && (cleanup_at === null || state === 'active'),
  );
  return isLeft ? { step: 'enter' } : NONE;
}

function isOf(attempt: Attempt, { attempt_id }: { readonly attempt_id: string | null }): boolean {
  return attempt_id === attempt.id;
}
