import { INBOX_KINDS, type InboxItem, type listInbox } from '#contract/inbox-operations.ts';
import type { Task } from '#contract/task.ts';
import { listWaiting, PROPOSED_LABEL, toProposed, type WaitingFacts } from '#domain/list-waiting.ts';
import { kindOf, standingState } from '#domain/workflow.ts';
import { listSuspended } from '#engine/list-suspended.ts';
import { findStanding } from '#engine/find-standing.ts';
import { readTaskFacts } from '#engine/read-wait.ts';
import { escapeLine } from '#kernel/text.ts';
import { examinePushes } from '#sync/examine-git-rules.ts';
import { examineLandings } from '#sync/examine-landings.ts';
import type { Finding } from '#sync/examine-project.ts';
import { implement, type OperationContext } from './operation.ts';
import { style } from './style-text.ts';
import { wrapWords } from './text-width.ts';
import { waitPlace } from './wait-place.ts';

export const inboxList = implement<typeof listInbox>({
  async run(ctx, { kind }) {
    const { paths } = ctx.project;
    const [tasks, proposed, agents, conflicts, landings, pushes] = await Promise.all([
      listTasksThatWait(ctx),
      listProposed(ctx),
      listAgentsThatWait(ctx),
      listLostValues(ctx),
      examineLandings(paths, ctx.machine),
      examinePushes(paths, ctx.machine),
    ]);
    const all = [
      ...tasks,
      ...agents,
      ...landings.filter(({ state }) => state === 'failed').map((one) => toItem('landing', one)),
      ...pushes.map((one) => toItem('push', one)),
      ...proposed,
      ...conflicts,
    ];
    return all.filter((item) => kind === undefined || item.kind === kind).sort(byUrgency);
  },
  text(items, view) {
    if (items.length === 0) return 'Nothing waits for you.';
    return items
      .map(({ kind, task_id, title, message, command }) => {
        const about = [task_id, title]
          .flatMap((part) => (part === null ? [] : [escapeLine(part)]))
          .join('  ');
        const head = `${style(view, 'bold', kind)}${about === '' ? '' : `  ${about}`}`;
        const deny = kind === 'approval' ? `, or ${command.replace('approve', 'deny')}` : '';
        const told = wrapWords(escapeLine(message), { columns: view.columns, indent: '  ' }).join('\n');
        return `${head}\n${told}\n  try: ${escapeLine(command)}${escapeLine(deny)}`;
      })
      .join('\n');
  },
});

async function listTasksThatWait(ctx: OperationContext): Promise<InboxItem[]> {
  const { store, workflow } = ctx.project;
  const tasks = await store.listTasks({ status: 'in_progress' });
  const inGates = tasks.filter((task) => kindOf(workflow, standingState(workflow, task)) === 'gate');
  const reviews = await Promise.all(inGates.map(({ id }) => store.listReviews({ task_id: id })));
  const pending = await store.listApprovals({ pending: true });
  const approvals = await Promise.all(
    pending.map(async (approval) => ({ ...approval, agent: (await store.getRun(approval.run_id)).agent })),
  );
  const at_work = new Set((await store.listOpenWork()).map(({ task_id }) => task_id));
  const place = waitPlace(ctx);
  const active = await store.listAttempts({ there: true, state: 'active' });
  const attempted = new Set(active.map(({ task_id }) => task_id));
  const left = await listLeft(ctx, attempted);
  const leftIds = new Set(left.map(({ id }) => id));
  const idle = [...tasks, ...left].filter(
    ({ id, error_annotation }) =>
      (attempted.has(id) || error_annotation !== undefined || leftIds.has(id)) && !at_work.has(id),
  );
  const known = await Promise.all(
    idle.map(async (task) => [task.id, await readTaskFacts(place, task)] as const),
  );
  return listWaiting(workflow, {
    tasks: [...tasks, ...left],
    reviews: reviews.flat().filter(({ status }) => status === 'waiting'),
    approvals,
    at_work,
    known: new Map(known),
    unmerged: await listUnmerged(store),
  });
}

/** Open tasks of which work may be left: those with an unfinished attempt, and those that were parked last. */
async function listLeft(
  { project: { store, workflow } }: OperationContext,
  attempted: ReadonlySet<string>,
): Promise<Task[]> {
  const begun = await Promise.all([...attempted].map(async (id) => (await findStanding(store, id))?.task));
  const parked = await Promise.all(
    [...workflow.parked_states].map((state) =>
      store.listTasks({ status: 'open', state, sort: 'updated', limit: PARKED_TASKS }),
    ),
  );
  const found = [...begun.flatMap((task) => (task?.status === 'open' ? [task] : [])), ...parked.flat()];
  const shown = found.filter(({ archived_at }) => archived_at === undefined);
  return [...new Map(shown.map((task) => [task.id, task])).values()];
}

/** So many parked tasks are looked through, those that changed last. */
const PARKED_TASKS = 1_000;

async function listProposed({ project: { store, workflow } }: OperationContext): Promise<InboxItem[]> {
  const states = [...workflow.parked_states];
  const parked = await Promise.all(
    states.map((state) => store.listTasks({ status: 'open', state, label: PROPOSED_LABEL })),
  );
  return toProposed(workflow, parked.flat());
}

async function listAgentsThatWait({ project, place, clock }: OperationContext): Promise<InboxItem[]> {
  const suspended = await listSuspended(project.store, { home: place.home, now: clock.now() });
  return suspended.map(({ agent, since, until, mends, reason, command }) => ({
    kind: 'agent',
    task_id: null,
    title: null,
    run_id: null,
    since,
    message: `${agent} cannot work: ${reason}${mends === 'by_itself' ? ` (it is tried again at ${until})` : ''}`,
    command,
  }));
}

/** Few attempts are unfinished at a time, and nearly all of them are at tasks that are not closed. */
async function listUnmerged(store: OperationContext['project']['store']): Promise<WaitingFacts['unmerged']> {
  const attempts = await store.listAttempts({ state: 'active' });
  const found = await Promise.all(
    attempts.map(async (attempt) => {
      const task = (await findStanding(store, attempt.task_id))?.task;
      return task?.status === 'closed' ? [{ task, attempt }] : [];
    }),
  );
  return found.flat();
}

/** One item a task, however many of its values lost. */
async function listLostValues(ctx: OperationContext): Promise<InboxItem[]> {
  const { conflictList, nameValue } = await import('./conflict-list.ts');
  const lost = await conflictList.run(ctx, {});
  return [...Map.groupBy(lost, ({ id }) => id)].map(([id, values]) => ({
    kind: 'conflict',
    task_id: id,
    title: values[0]?.title ?? null,
    run_id: null,
    since: values.map(({ at }) => at).sort()[0] ?? null,
    message: `lost a merge: ${values.map(({ name }) => nameValue(name)).join(', ')}`,
    command: `forge conflicts ${id}`,
  }));
}

function toItem(kind: InboxItem['kind'], { message, hint }: Finding): InboxItem {
  const command = hint ?? 'forge doctor';
  return { kind, task_id: null, title: null, run_id: null, since: null, message, command };
}

function byUrgency(a: InboxItem, b: InboxItem): number {
  const byKind = INBOX_KINDS.indexOf(a.kind) - INBOX_KINDS.indexOf(b.kind);
  return byKind || (a.since ?? '').localeCompare(b.since ?? '');
}
