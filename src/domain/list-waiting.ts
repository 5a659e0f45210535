import type { Approval, Attempt, Review } from '#contract/attempt.ts';
import type { InboxItem } from '#contract/inbox-operations.ts';
import type { Task } from '#contract/task.ts';
import { LIMITS } from '#kernel/limits.ts';
import { describeRequest } from './describe-request.ts';
import { findWait, type TaskFacts, type WaitingTask } from './find-wait.ts';
import { endsAsDone, kindOf, standingState, type ResolvedWorkflow } from './workflow.ts';

/** What decides which tasks wait for a person. */
export interface WaitingFacts {
  /** Every task in progress that is not archived, and open ones of which work may be left. */
  readonly tasks: readonly WaitingTask[];
  /** Of tasks that agents ask for permission for, also those that are not above. */
  readonly titles: ReadonlyMap<string, string>;
  /** Reviews that wait for a verdict. */
  readonly reviews: readonly Review[];
  /** Those without an answer. */
  readonly approvals: readonly (Approval & { readonly agent: string })[];
  /** Tasks with a run, a review, a merge or a start under way. */
  readonly at_work: ReadonlySet<string>;
  /** What else decides about a task; of most there is nothing. */
  readonly known: ReadonlyMap<string, Omit<TaskFacts, 'asked' | 'at_work'>>;
  /** Attempts that were neither merged nor given up, each with its task that is closed. */
  readonly unmerged: readonly {
    readonly task: WaitingTask;
    readonly attempt: Pick<Attempt, 'branch' | 'target'>;
  }[];
}

/** What of the tasks waits for a person, in no order. A task at work waits only where its agent asks something. */
export function listWaiting(workflow: ResolvedWorkflow, facts: WaitingFacts): InboxItem[] {
  const asked = facts.approvals.map((approval) =>
    toApproval(approval, facts.titles.get(approval.task_id) ?? null),
  );
  const reviews = new Map(facts.reviews.toReversed().map((review) => [review.task_id, review]));
  const closed = facts.unmerged.filter(({ task }) => endsAsDone(workflow, standingState(workflow, task)));
  const place = { known: facts.known, at_work: facts.at_work, reviewOf: reviews };
  return [
    ...asked,
    ...facts.tasks.flatMap((task) => toWaiting(workflow, place, task)),
    ...closed.map(toUnmerged),
  ];
}

function toWaiting(
  workflow: ResolvedWorkflow,
  facts: Pick<WaitingFacts, 'known' | 'at_work'> & { readonly reviewOf: ReadonlyMap<string, Review> },
  task: WaitingTask,
): InboxItem[] {
  const { id, title } = task;
  const wait = findWait(workflow, task, {
    ...facts.known.get(id),
    asked: facts.reviewOf.get(id),
    at_work: facts.at_work.has(id),
  });
  if (wait === undefined) return [];
  const { kind, since, message, command } = wait;
  return [{ kind, task_id: id, title, run_id: null, since, message, command }];
}

/** What a parked task bears that an agent created from the task of an agent. */
export const PROPOSED_LABEL = 'proposed-by-agent';

/** Parked tasks that bear it: the one that was created first, and how many there are. */
export interface Proposed {
  readonly first: Pick<Task, 'id' | 'title' | 'state' | 'created_by' | 'created_at'>;
  readonly tasks: number;
}

/** One item for all of them: a run may propose many. */
export function toProposed(workflow: ResolvedWorkflow, { first, tasks }: Proposed): InboxItem {
  const { id, title, state, created_by, created_at } = first;
  const isOne = tasks === 1;
  const go = `forge task transition ${id} ${workflow.initial}`;
  return {
    kind: 'proposed',
    task_id: isOne ? id : null,
    title: isOne ? title : null,
    run_id: null,
    since: created_at,
    message: isOne
      ? `${created_by} proposes it, and it waits in ${state}`
      : `agents propose ${tasks} tasks; the first goes by ${go}`,
    command: isOne ? go : `forge task list --state ${state} --label ${PROPOSED_LABEL}`,
  };
}

/** Of a walk over tasks in progress: whether a task may wait, as far as that is told without reading it. */
export function mayWait(
  workflow: ResolvedWorkflow,
  { id, state, assignee, noted }: Pick<Task, 'id' | 'state' | 'assignee'> & { readonly noted: boolean },
  attempted: ReadonlySet<string>,
): boolean {
  if (noted || assignee === null || attempted.has(id)) return true;
  return kindOf(workflow, standingState(workflow, { status: 'in_progress', state })) !== 'active';
}

/** The same when the task was read. */
export function standsStill(
  workflow: ResolvedWorkflow,
  { error_annotation, archived_at, ...task }: WaitingTask,
  attempted: ReadonlySet<string>,
): boolean {
  return (
    archived_at === undefined &&
    mayWait(workflow, { ...task, noted: error_annotation !== undefined }, attempted)
  );
}

/** A close that came with a pull or an import could not be refused, as it would have been here. */
function toUnmerged({ task, attempt }: WaitingFacts['unmerged'][number]): InboxItem {
  const { id, title, closed_at } = task;
  return {
    kind: 'stuck',
    task_id: id,
    title,
    run_id: null,
    since: closed_at,
    message: `it was closed elsewhere, and its work on ${attempt.branch} is not in ${attempt.target}`,
    command: `forge task reopen ${id}`,
  };
}

function toApproval(
  { agent, ...approval }: WaitingFacts['approvals'][number],
  title: string | null,
): InboxItem {
  const { run_id, task_id, asked_at, command } = approval;
  const whole = `${agent} asks for ${describeRequest(approval)}`;
  // A command is shown whole: what a person allows unseen could be anything.
  const message = command === null ? whole.slice(0, LIMITS.inbox_message_length) : whole;
  return {
    kind: 'approval',
    task_id,
    title,
    run_id,
    since: asked_at,
    message,
    command: `forge runs approve ${run_id.slice(0, SHORT_ID)}`,
  };
}

const SHORT_ID = 8;
