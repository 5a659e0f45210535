import type { Approval, Attempt, Review } from '#contract/attempt.ts';
import type { InboxItem } from '#contract/inbox-operations.ts';
import type { Task } from '#contract/task.ts';
import { compareText } from '#kernel/text.ts';
import { LIMITS } from '#kernel/limits.ts';
import { describeRequest } from './describe-request.ts';
import { findWait, type TaskFacts } from './find-wait.ts';
import { endsAsDone, standingState, type ResolvedWorkflow } from './workflow.ts';

/** What decides which tasks wait for a person. */
export interface WaitingFacts {
  /** Every task in progress that is not archived, and open ones of which work may be left. */
  readonly tasks: readonly Task[];
  /** Reviews that wait for a verdict. */
  readonly reviews: readonly Review[];
  /** Those without an answer. */
  readonly approvals: readonly (Approval & { readonly agent: string })[];
  /** Tasks with a run, a review, a merge or a start under way. */
  readonly at_work: ReadonlySet<string>;
  /** What else decides about a task; of most there is nothing. */
  readonly known: ReadonlyMap<string, Omit<TaskFacts, 'asked' | 'at_work'>>;
  /** Attempts that were neither merged nor given up, each with its task that is closed. */
  readonly unmerged: readonly { readonly task: Task; readonly attempt: Pick<Attempt, 'branch' | 'target'> }[];
}

/** What of the tasks waits for a person, in no order. A task at work waits only where its agent asks something. */
export function listWaiting(workflow: ResolvedWorkflow, facts: WaitingFacts): InboxItem[] {
  const titles = new Map(facts.tasks.map(({ id, title }) => [id, title]));
  const asked = facts.approvals.map((approval) => toApproval(approval, titles.get(approval.task_id) ?? null));
  const closed = facts.unmerged.filter(({ task }) => endsAsDone(workflow, standingState(workflow, task)));
  return [
    ...asked,
    ...facts.tasks.flatMap((task) => toWaiting(workflow, facts, task)),
    ...closed.map(toUnmerged),
  ];
}

function toWaiting(workflow: ResolvedWorkflow, facts: WaitingFacts, task: Task): InboxItem[] {
  const { id, title } = task;
  const wait = findWait(workflow, task, {
    ...facts.known.get(id),
    asked: facts.reviews.find(({ task_id }) => task_id === id),
    at_work: facts.at_work.has(id),
  });
  if (wait === undefined) return [];
  const { kind, since, message, command } = wait;
  return [{ kind, task_id: id, title, run_id: null, since, message, command }];
}

/** What a parked task bears that an agent created from the task of an agent. */
export const PROPOSED_LABEL = 'proposed-by-agent';

/** One item for all of them: a run may propose many. */
export function toProposed(workflow: ResolvedWorkflow, parked: readonly Task[]): InboxItem[] {
  const proposed = parked
    .filter(({ labels }) => labels.includes(PROPOSED_LABEL))
    .toSorted((a, b) => compareText(a.created_at, b.created_at));
  const [first] = proposed;
  if (first === undefined) return [];
  const { id, title, created_by, created_at } = first;
  const isOne = proposed.length === 1;
  const go = `forge task transition ${id} ${workflow.initial}`;
  return [
    {
      kind: 'proposed',
      task_id: isOne ? id : null,
      title: isOne ? title : null,
      run_id: null,
      since: created_at,
      message: isOne
        ? `${created_by} proposes it, and it waits in ${first.state}`
        : `agents propose ${proposed.length} tasks; the first goes by ${go}`,
      command: isOne ? go : `forge task list --state ${first.state} --label ${PROPOSED_LABEL}`,
    },
  ];
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
