import type { Attempt, Review } from '#contract/attempt.ts';
import type { InboxItem } from '#contract/inbox-operations.ts';
import type { Task } from '#contract/task.ts';
import { splitRaise } from './caps.ts';
import type { AgentFault } from './decide-suspension.ts';
import type { Halted } from './find-halted.ts';
import { passTarget } from './gate-targets.ts';
import { isMerging, isParked, kindOf, roleOf, standingState, type ResolvedWorkflow } from './workflow.ts';
import { holderName } from './workflow-fields.ts';

/** What decides, besides the task itself, whether it waits for a person. */
export interface TaskFacts {
  /** Its review that waits for a verdict. */
  readonly asked?: Pick<Review, 'started_at'> | undefined;
  /** It has a run, a review, a merge or a start under way. */
  readonly at_work: boolean;
  /** Its work stands still: whose it is, and whether Forge can start that agent here. */
  readonly halted?: (Halted & { readonly managed: boolean }) | undefined;
  /**
   * Of an open task and of a merge that did not fit: the attempt that was neither merged nor given up, and whether Forge
   * can start its agent here.
   */
  readonly unfinished?: Unfinished | undefined;
  /** Of a parked task: the agent that gave it up there. */
  readonly parked_by?: string | undefined;
  /**
   * The agent that Forge can start for the task: its owner, or where it has no owner the agent of its attempt. Null
   * where there is none; undefined where the caller has not looked.
   */
  readonly worker?: string | null | undefined;
  /** Nobody has trusted all of its checks and set-up commands on this machine as they are now. */
  readonly untrusted?: boolean | undefined;
}

export interface Unfinished extends Pick<Attempt, 'agent' | 'branch' | 'path'> {
  readonly managed: boolean;
}

/** What decides of the task itself: none of its long texts. */
export type WaitingTask = Omit<Task, 'description' | 'metadata' | 'dependencies'>;

/** Why a task waits for a person, and what that person types. The one answer of every command that tells it. */
export type Wait = Pick<InboxItem, 'kind' | 'message' | 'command' | 'since'>;

/** Undefined for a task that needs no person now. One at work waits only for the verdict that it is asked for. */
export function findWait(workflow: ResolvedWorkflow, task: WaitingTask, facts: TaskFacts): Wait | undefined {
  const { id } = task;
  const state = standingState(workflow, task);
  const kind = kindOf(workflow, state);
  if (facts.asked !== undefined && kind === 'gate') {
    const holder = task.roles?.[roleOf(workflow, state) ?? ''];
    const who = holder === undefined ? 'a person' : holderName(holder);
    const message = task.error_annotation?.message ?? `its review waits for the word of ${who}`;
    return { kind: 'review', message, command: `forge review ${id} pass`, since: facts.asked.started_at };
  }
  if (facts.at_work) return undefined;
  if (task.status === 'open') return findLeft(workflow, task, facts);
  if (task.status !== 'in_progress') return undefined;
  if (task.error_annotation === undefined) return findSilent(workflow, task, facts);
  const { code, message, at } = task.error_annotation;
  if (PICKS.has(code)) return { kind: 'pick', message, command: `forge attempt compare ${id}`, since: at };
  if (code === AUDITOR_SUSPENDED) return undefined;
  if (code === 'merge_postponed')
    return { kind: 'postponed', message, command: `forge run ${id} --merge`, since: at };
  if (code === UNTRUSTED && facts.untrusted === true)
    return { kind: 'stuck', message, command: 'forge trust', since: at };
  const told = code === UNTRUSTED ? NOW_TRUSTED : message;
  const { command = toGoOn(workflow, task, { state, worker: facts.worker }), message: what = told } =
    splitRaise(told) ?? {};
  const place = facts.unfinished === undefined ? '' : `; the work is in ${facts.unfinished.path}`;
  return { kind: 'stuck', message: `${what}${place}`, command, since: at };
}

/**
 * A task without an owner that is not where it began: work on it was broken off, or it was parked because of a failure.
 * A parked task is never offered, so a person lets it go on.
 */
function findLeft(
  workflow: ResolvedWorkflow,
  { id, state, error_annotation: trouble, updated_at, ...task }: WaitingTask,
  { unfinished, parked_by }: TaskFacts,
): Wait | undefined {
  // Nothing is wrong with the task: the agent waits for a person, or for its provider.
  if (trouble !== undefined && FAULTS.has(trouble.code)) return undefined;
  const isAside = isParked(workflow, standingState(workflow, { ...task, state }));
  const isGivenUp = isAside && (trouble !== undefined || parked_by !== undefined);
  if (unfinished === undefined && !isGivenUp) return undefined;
  const raised = splitRaise(trouble?.message ?? '');
  const silent =
    isAside && parked_by !== undefined ? `${parked_by} put it into ${state}` : `it is in ${state}`;
  const why = raised?.message ?? trouble?.message ?? silent;
  const work =
    unfinished === undefined ? '' : `; unfinished work is on ${unfinished.branch}, in ${unfinished.path}`;
  return {
    kind: 'stuck',
    message: `${why}${work}`,
    command: raised?.command ?? toTakeUp(workflow, { id, isAside, unfinished }),
    since: trouble?.at ?? updated_at,
  };
}

/** How a task says that its agent could not work. */
const FAULTS: ReadonlySet<string> = new Set<AgentFault>([
  'usage_limit',
  'unavailable',
  'auth',
  'not_installed',
]);

function toTakeUp(
  workflow: ResolvedWorkflow,
  { id, isAside, unfinished }: { id: string; isAside: boolean } & Pick<TaskFacts, 'unfinished'>,
): string {
  if (isAside) return `forge task transition ${id} ${workflow.initial}`;
  if (unfinished?.managed === true && unfinished.agent !== null)
    return `forge run ${id} --agent ${unfinished.agent} --merge`;
  return `forge claim ${id}`;
}

/** A task that says nothing of why it waits. */
function findSilent(
  workflow: ResolvedWorkflow,
  task: WaitingTask,
  { halted, worker }: TaskFacts,
): Wait | undefined {
  const { id, assignee, review_passed_at: since, updated_at } = task;
  const state = standingState(workflow, task);
  const next = passTarget(workflow, state);
  switch (kindOf(workflow, state)) {
    case 'gate':
      if (since === undefined || next === undefined || isMerging(workflow, state)) return undefined;
      return {
        kind: 'merge',
        message: `it passed in ${state}`,
        command: `forge run ${id} --merge`,
        since,
      };
    case 'active':
      // A status that was written into the file by hand, without an owner: it is in no queue, so a person has to take it.
      if (assignee === null)
        return {
          kind: 'stuck',
          message: `it is in ${state}, and nobody has it`,
          command: `forge claim ${id}`,
          since: updated_at,
        };
      return halted && { kind: 'stuck', ...describeHalted(workflow, task, halted), since: updated_at };
    case 'custom':
      return {
        kind: 'stuck',
        message: `it is in ${state}`,
        command: toGoOn(workflow, task, { state, worker }),
        since: null,
      };
    case 'backlog':
    case 'initial':
    case 'terminal':
    case undefined:
      return undefined;
  }
}

function describeHalted(
  workflow: ResolvedWorkflow,
  task: WaitingTask,
  { agent, managed, why }: NonNullable<TaskFacts['halted']>,
): Pick<Wait, 'message' | 'command'> {
  const { id } = task;
  const state = standingState(workflow, task);
  if (managed)
    return {
      message: `it is in ${state}, and ${agent} is not at work on it${why === 'lost_claim' ? LOST_CLAIM : ''}`,
      command: `forge run ${id} --agent ${agent} --merge`,
    };
  return {
    message: `it is in ${state}, and ${agent}, who worked on it, is not an agent that Forge starts here`,
    command: `forge task transition ${id} ${workflow.initial}`,
  };
}

/**
 * Whose work was stopped where it is goes on there. A merge that did not fit is worked on again by the agent that made
 * it, one that was refused is tried again. Every other task, and work of a person, goes along the first edge of its state.
 */
function toGoOn(
  workflow: ResolvedWorkflow,
  { id, assignee, ...task }: WaitingTask,
  { state, worker = assignee }: { readonly state: string } & Pick<TaskFacts, 'worker'>,
): string {
  const code = task.error_annotation?.code ?? '';
  if (kindOf(workflow, state) === 'active' && worker !== null) return `forge run ${id} --agent ${worker}`;
  const isAside = kindOf(workflow, state) === 'custom' && state !== workflow.blocked;
  if (isAside && worker !== null && REPAIRED_MERGES.has(code))
    return `forge run ${id} --agent ${worker} --merge`;
  if (isAside && code === 'merge_refused') return `forge run ${id} --merge`;
  const to = workflow.states.get(state)?.next?.[0];
  return to === undefined ? `forge task show ${id}` : `forge task transition ${id} ${to}`;
}

const LOST_CLAIM = ': it was deleted and restored during its run, or claimed anew, and the run was ended';

/** How a task says that its merge did not fit its target: the agent that made it makes it fit. */
export const REPAIRED_MERGES: ReadonlySet<string> = new Set(['merge_conflict', 'merge_ci_failed']);

const NOW_TRUSTED = 'its commands are trusted now, and were not when they were to run';

/** How a task says that no person has trusted its checks, or what sets its folder up. */
const UNTRUSTED = 'untrusted';

/** How a task says that it waits for an auditor that is suspended: a person is asked to see to the agent. */
export const AUDITOR_SUSPENDED = 'auditor_suspended';

/** How a task says that one of its attempts has to be picked. */
const PICKS: ReadonlySet<string> = new Set(['pick_attempt', 'no_green_attempt']);
