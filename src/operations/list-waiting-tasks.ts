import type { InboxItem } from '#contract/inbox-operations.ts';
import { listWaiting, mayWait, standsStill, toProposed, type WaitingFacts } from '#domain/list-waiting.ts';
import type { WaitingTask } from '#domain/find-wait.ts';
import { kindOf, standingState } from '#domain/workflow.ts';
import { readTaskFacts } from '#engine/read-wait.ts';
import { SERVED_LIMITS } from '#kernel/served-limits.ts';
import { compareText } from '#kernel/text.ts';
import type { WalkedTask } from '#store/task-looks.ts';
import { mapWithTurns } from './map-with-turns.ts';
import type { OperationContext } from './operation.ts';
import { eachBriefs, eachWalked, readBriefs } from './read-briefs.ts';
import { waitPlace } from './wait-place.ts';

type Store = OperationContext['project']['store'];

/** What of the tasks waits for a person. No task is read whole, and others are served in between. */
export async function listWaitingTasks(ctx: OperationContext): Promise<InboxItem[]> {
  const { store } = ctx.project;
  const workflow = ctx.project.workflow();
  const active = await store.listAttempts({ there: true, state: 'active' });
  const attempted = new Set(active.map(({ task_id }) => task_id));
  const { tasks, isCut } = await listInProgress(ctx, attempted);
  const { left, proposed } = await listLeft(ctx, attempted);
  const inGates = tasks.filter((task) => kindOf(workflow, standingState(workflow, task)) === 'gate');
  const reviews = await mapWithTurns(inGates, ({ id }) => store.listReviews({ task_id: id }));
  const pending = await store.listApprovals({ pending: true });
  const approvals = await mapWithTurns(pending, async (approval) => ({
    ...approval,
    agent: (await store.getRun(approval.run_id)).agent,
  }));
  const asking = await readBriefs(store, [...new Set(pending.map(({ task_id }) => task_id))]);
  const at_work = new Set((await store.listOpenWork()).map(({ task_id }) => task_id));
  const place = waitPlace(ctx);
  const leftIds = new Set(left.map(({ id }) => id));
  const idle = [...tasks, ...left].filter(
    ({ id, error_annotation }) =>
      (attempted.has(id) || error_annotation !== undefined || leftIds.has(id)) && !at_work.has(id),
  );
  const known = await mapWithTurns(
    idle,
    async (task) => [task.id, await readTaskFacts(place, task)] as const,
  );
  const waiting = listWaiting(workflow, {
    tasks: [...tasks, ...left],
    titles: new Map(asking.map(({ id, title }) => [id, title])),
    reviews: reviews.flat().filter(({ status }) => status === 'waiting'),
    approvals,
    at_work,
    known: new Map(known),
    unmerged: await listUnmerged(store),
  });
  return [...waiting, ...proposed, ...(isCut ? [toMore()] : [])];
}

/** Tasks in progress that are not archived and may wait: of nearly all others a walk tells that they do not. */
async function listInProgress(
  { project, stays }: OperationContext,
  attempted: ReadonlySet<string>,
): Promise<{ readonly tasks: readonly WaitingTask[]; readonly isCut: boolean }> {
  const { store } = project;
  const workflow = project.workflow();
  const ids: string[] = [];
  for await (const part of eachWalked(store, { status: 'in_progress' }))
    ids.push(...part.filter((task) => mayWait(workflow, task, attempted)).map(({ id }) => id));
  const most = stays ? SERVED_LIMITS.inbox_tasks : Infinity;
  const tasks: WaitingTask[] = [];
  for await (const part of eachBriefs(store, ids)) {
    tasks.push(
      ...part.filter((task) => task.status === 'in_progress' && standsStill(workflow, task, attempted)),
    );
    if (tasks.length > most) return { tasks: tasks.slice(0, most), isCut: true };
  }
  return { tasks, isCut: false };
}

/**
 * Open tasks of which work may be left: those with an unfinished attempt, and those that were parked last. And what
 * agents propose, which is parked as well.
 */
async function listLeft(
  { project: { store, workflow } }: OperationContext,
  attempted: ReadonlySet<string>,
): Promise<{ readonly left: readonly WaitingTask[]; readonly proposed: readonly InboxItem[] }> {
  let parked: WalkedTask[] = [];
  let first: WalkedTask | undefined;
  let tasks = 0;
  for await (const part of eachWalked(store, { status: 'open', parked_only: true })) {
    const own = part.filter((task) => task.parked);
    parked = [...parked, ...own].sort(byChange).slice(0, PARKED_TASKS);
    const labelled = own.filter((task) => task.labelled);
    tasks += labelled.length;
    [first] = [...(first === undefined ? [] : [first]), ...labelled].sort(byBirth);
  }
  const ids = [...new Set([...attempted, ...parked.map(({ id }) => id)])];
  const found = await readBriefs(store, ids);
  const left = found.filter(({ status, archived_at }) => status === 'open' && archived_at === undefined);
  const [proposal] = first === undefined ? [] : await readBriefs(store, [first.id]);
  const proposed = proposal === undefined ? [] : [toProposed(workflow(), { first: proposal, tasks })];
  return { left, proposed };
}

/** So many parked tasks are looked through, those that changed last; by a command too. */
const PARKED_TASKS = 1_000;

function byChange(a: WalkedTask, b: WalkedTask): number {
  return compareText(b.updated_at, a.updated_at) || compareText(a.id, b.id);
}

function byBirth(a: WalkedTask, b: WalkedTask): number {
  return compareText(a.created_at, b.created_at) || compareText(a.id, b.id);
}

/** Few attempts are unfinished at a time, and nearly all of them are at tasks that are not closed. */
async function listUnmerged(store: Store): Promise<WaitingFacts['unmerged']> {
  const attempts = await store.listAttempts({ state: 'active' });
  const tasks = await readBriefs(store, [...new Set(attempts.map(({ task_id }) => task_id))]);
  const closed = new Map(tasks.flatMap((task) => (task.status === 'closed' ? [[task.id, task]] : [])));
  return attempts.flatMap((attempt) => {
    const task = closed.get(attempt.task_id);
    return task === undefined ? [] : [{ task, attempt }];
  });
}

function toMore(): InboxItem {
  const most = SERVED_LIMITS.inbox_tasks.toLocaleString('en');
  return {
    kind: 'more',
    task_id: null,
    title: null,
    run_id: null,
    since: null,
    message: `a server looks at ${most} tasks in progress that may wait, and there are more: all are listed in the repository, without --server`,
    command: 'forge inbox',
  };
}
