import type { projectStatus as declaration } from '#contract/query-operations.ts';
import type { OutputOf } from '#contract/declare.ts';
import { isForgeError } from '#kernel/errors.ts';
import { escapeLine } from '#kernel/text.ts';
import { describeSuspended } from './agent-entry.ts';
import { keptLine, keptName } from './kept-text.ts';
import { implement, type OperationContext } from './operation.ts';
import { SHORT_ID } from './run-text.ts';
import { style } from './style-text.ts';
import { wrapWords } from './text-width.ts';

export const projectStatus = implement<typeof declaration>({
  async run(ctx) {
    const { store, config } = ctx.project;
    const [{ inboxList }, { listUnwatched }, { listSuspended }] = await Promise.all([
      import('./inbox-list.ts'),
      import('#engine/is-there.ts'),
      import('#engine/list-suspended.ts'),
    ]);
    const stats = await store.readStats({ now: ctx.clock.now(), exclude_types: config.ready.excludeTypes });
    const work = await store.listOpenWork();
    const unwatched = new Set(await listUnwatched(store, work));
    return {
      prefix: config.idPrefix,
      paused_at: await store.readPause(),
      spent: await readSpent(ctx),
      ready: stats.ready,
      in_progress: stats.by_status['in_progress'] ?? 0,
      blocked: stats.blocked,
      closed_last_7_days: stats.closed_last_7_days,
      at_work: work.map((one) => {
        const { kind, id, task_id, agent } = one;
        return { kind, id, task_id, agent, watched: !unwatched.has(one) };
      }),
      waiting: (await inboxList.run(ctx, {})).length,
      suspended: await listSuspended(store, { home: ctx.place.home, now: ctx.clock.now() }),
      kept: await readKept(ctx),
    };
  },
  text(status, view) {
    const { ready, in_progress, blocked, closed_last_7_days, at_work, waiting, paused_at, spent, suspended } =
      status;
    const kept = status.kept ?? [];
    const next = waiting === 0 ? 'nothing' : `${waiting} ${waiting === 1 ? 'thing' : 'things'}: forge inbox`;
    const rows = [
      toRow('Tasks', `${ready} ready, ${in_progress} in progress, ${blocked} blocked`),
      toRow('Closed', `${closed_last_7_days} in the last 7 days`),
      ...(paused_at === null ? [] : [toRow('Paused', `since ${paused_at}: agents claim nothing`)]),
      ...(spent === null ? [] : [toRow('Budget', spent.message, spent.command)]),
      toRow('Waiting', next),
      ...suspended.map((one) =>
        toRow('Agent', `${one.agent} is ${describeSuspended(one, view.now)}`, one.command),
      ),
      ...(kept.length === 0 ? [] : [toRow('On disk', keptLine(kept))]),
      ...kept.flatMap((use) =>
        use.exceeded === null
          ? []
          : [toRow('Too much', `${keptName(use)}: ${use.exceeded}`, use.command ?? undefined)],
      ),
      toRow('At work', at_work.length === 0 ? 'nothing' : String(at_work.length)),
    ];
    const indent = ' '.repeat(NAME_WIDTH + 1);
    const head = rows.flatMap(([name, value, command]) => {
      const [first = '', ...more] = wrapWords(escapeLine(value), { columns: view.columns, indent });
      const told = `${style(view, 'dim', name.padEnd(NAME_WIDTH))}${first.slice(NAME_WIDTH)}`;
      return [told, ...more, ...(command === undefined ? [] : [`${indent}try: ${escapeLine(command)}`])];
    });
    const work = at_work.map(({ kind, id, task_id, agent, watched }) => {
      const what = kind === 'start' ? kind : `${kind} ${id.slice(0, SHORT_ID)}`;
      const who = agent === null ? '' : `  ${escapeLine(agent)}`;
      return `  ${escapeLine(task_id)}  ${what}${who}${watched ? '' : '  (its watcher is gone: forge doctor)'}`;
    });
    return [...head, ...work].join('\n');
  },
});

const NAME_WIDTH = 9;

function toRow(name: string, value: string, command?: string): [string, string, string | undefined] {
  return [name, value, command];
}

/** Settings with a fault are told by what needs them. */
async function readSpent({
  project,
  place,
  clock,
  machine,
}: OperationContext): Promise<ProjectStatus['spent']> {
  const [{ findSpentBudget }, { toCaps }, { readWorkSettings }, { findGatePaths }] = await Promise.all([
    import('#engine/find-spent-budget.ts'),
    import('#domain/caps.ts'),
    import('#sync/work-settings.ts'),
    import('#sync/gate-files.ts'),
  ]);
  try {
    const { settings } = await findGatePaths(project, machine);
    const caps = toCaps(readWorkSettings({ paths: settings }, place.home));
    return (await findSpentBudget(project.store, { caps, now: clock.now() })) ?? null;
  } catch (error) {
    if (isForgeError(error)) return null;
    throw error;
  }
}

/** As above. */
async function readKept(ctx: OperationContext): Promise<ProjectStatus['kept']> {
  const [{ measureKept }, { keptPlace }] = await Promise.all([
    import('#engine/measure-kept.ts'),
    import('./kept-place.ts'),
  ]);
  try {
    return await measureKept(await keptPlace(ctx));
  } catch (error) {
    if (isForgeError(error)) return null;
    throw error;
  }
}

type ProjectStatus = OutputOf<typeof declaration>;
