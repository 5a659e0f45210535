import type { Approval, Attempt, Review } from '#contract/attempt.ts';
import type { InboxItem } from '#contract/inbox-operations.ts';
import type { Task } from '#contract/task.ts';
import { compareText } from '#kernel/text.ts';
import { LIMITS } from '#kernel/limits.ts';
import { splitRaise } from './caps.ts';
import { describeRequest } from './describe-request.ts';
import { endsAsDone, roleOf, isMerging, kindOf, standingState, type ResolvedWorkflow } from './workflow.ts';
import { passTarget } from './gate-targets.ts';
import { holderName } from './workflow-fields.ts';

/** What decides which tasks wait for a person. */
export interface WaitingFacts {
  /** Every task in progress that is not archived. */
  readonly tasks: readonly Task[];
  /** Reviews that wait for a verdict. */
  readonly reviews: readonly Review[];
  /** Those without an answer. */
  readonly approvals: readonly (Approval & { readonly agent: string })[];
  /** Tasks with a run, a review, a merge or a start under way. */
  readonly at_work: ReadonlySet<string>;
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
    ...facts.tasks.flatMap((task) => findWait(workflow, facts, task) ?? []),
    ...closed.map(toUnmerged),
  ];
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

function findWait(workflow: ResolvedWorkflow, facts: WaitingFacts, task: Task): InboxItem | undefined {
  const { id, title } = task;
  const item = (
    kind: InboxItem['kind'],
    { message, command, since }: Pick<InboxItem, 'message' | 'command' | 'since'>,
  ): InboxItem => ({ kind, task_id: id, title, run_id: null, since, message, command });
  const state = standingState(workflow, task);
  const review = facts.reviews.find(({ task_id }) => task_id === id);
  if (review !== undefined) {
    const holder = task.roles?.[roleOf(workflow, state) ?? ''];
    const who = holder === undefined ? 'a person' : holderName(holder);
    const told = task.error_annotation?.message ?? `its review waits for the word of ${who}`;
    return item('review', { message: told, command: `forge review ${id} pass`, since: review.started_at });
  }
  if (facts.at_work.has(id)) return undefined;
  const { code, message = '', at = null } = task.error_annotation ?? {};
  if (code !== undefined && PICKS.has(code))
    return item('pick', { message, command: `forge attempt compare ${id}`, since: at });
  if (code === AUDITOR_SUSPENDED) return undefined;
  if (code === 'merge_postponed')
    return item('postponed', { message, command: `forge run ${id} --merge`, since: at });
  const next = passTarget(workflow, state);
  const kind = kindOf(workflow, state);
  if (kind === 'gate' && code === undefined) {
    const since = task.review_passed_at;
    if (since === undefined || next === undefined || isMerging(workflow, state)) return undefined;
    const command = `forge task transition ${id} ${next}`;
    return item('merge', { message: `it passed in ${state}`, command, since });
  }
  // A status that was written into the file by hand, without an owner: it is in no queue, so a person has to take it.
  if (code === undefined && kind === 'active' && task.assignee === null) {
    const told = `it is in ${state}, and nobody has it`;
    return item('stuck', { message: told, command: `forge claim ${id}`, since: task.updated_at });
  }
  if (code === undefined && kind !== 'custom') return undefined;
  const told = message === '' ? `it is in ${state}` : message;
  const { command = toGoOn(workflow, task, state), message: what = told } = splitRaise(told) ?? {};
  return item('stuck', { message: what, command, since: at });
}

/** Whose work was stopped where it is goes on there; everything else along the first edge of its state. */
function toGoOn(workflow: ResolvedWorkflow, { id, assignee }: Task, state: string): string {
  if (kindOf(workflow, state) === 'active' && assignee !== null) return `forge run ${id} --agent ${assignee}`;
  const to = workflow.states.get(state)?.next?.[0];
  return to === undefined ? `forge task show ${id}` : `forge task transition ${id} ${to}`;
}

/** How a task says that it waits for an auditor that is suspended: a person is asked to see to the agent. */
export const AUDITOR_SUSPENDED = 'auditor_suspended';

/** How a task says that one of its attempts has to be picked. */
const PICKS: ReadonlySet<string> = new Set(['pick_attempt', 'no_green_attempt']);
