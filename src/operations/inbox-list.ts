import { INBOX_KINDS, type InboxItem, type listInbox } from '#contract/inbox-operations.ts';
import { listSuspended } from '#engine/list-suspended.ts';
import { escapeLine } from '#kernel/text.ts';
import { examinePushes } from '#sync/examine-git-rules.ts';
import { examineLandings } from '#sync/examine-landings.ts';
import type { Finding } from '#sync/examine-project.ts';
import { implement, type OperationContext } from './operation.ts';
import { listWaitingTasks } from './list-waiting-tasks.ts';
import { style } from './style-text.ts';
import { wrapWords } from './text-width.ts';

export const inboxList = implement<typeof listInbox>({
  async run(ctx, { kind }) {
    const { paths } = ctx.project;
    const [tasks, agents, conflicts, landings, pushes] = await Promise.all([
      listWaitingTasks(ctx),
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
      ...conflicts,
    ];
    return all
      .filter((item) => kind === undefined || item.kind === kind || item.kind === 'more')
      .sort(byUrgency);
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

/** One item a task, however many of its values lost. */
async function listLostValues(ctx: OperationContext): Promise<InboxItem[]> {
  const { conflictList, MORE, nameValue } = await import('./conflict-list.ts');
  const lost = await conflictList.run(ctx, {});
  const ofTasks = lost.filter(({ name }) => name !== MORE);
  const more = lost.find(({ name }) => name === MORE);
  const items = [...Map.groupBy(ofTasks, ({ id }) => id)].map(([id, values]): InboxItem => ({
    kind: 'conflict',
    task_id: id,
    title: values[0]?.title ?? null,
    run_id: null,
    since: values.map(({ at }) => at).sort()[0] ?? null,
    message: `lost a merge: ${values.map(({ name }) => nameValue(name)).join(', ')}`,
    command: `forge conflicts ${id}`,
  }));
  if (more === undefined) return items;
  const finding = { message: `of values that lost a merge: ${more.title}`, hint: 'forge conflicts' };
  return [...items, toItem('more', finding)];
}

function toItem(kind: InboxItem['kind'], { message, hint }: Pick<Finding, 'message' | 'hint'>): InboxItem {
  const command = hint ?? 'forge doctor';
  return { kind, task_id: null, title: null, run_id: null, since: null, message, command };
}

function byUrgency(a: InboxItem, b: InboxItem): number {
  const byKind = INBOX_KINDS.indexOf(a.kind) - INBOX_KINDS.indexOf(b.kind);
  return byKind || (a.since ?? '').localeCompare(b.since ?? '');
}
