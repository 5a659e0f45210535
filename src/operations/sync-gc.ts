import type { OutputOf } from '#contract/declare.ts';
import type { collectGarbage } from '#contract/sync-operations.ts';
import { describeKeptFiles } from '#engine/keep-files.ts';
import { exportFiles } from '#sync/export-files.ts';
import { toExportSource } from '#sync/export-source.ts';
import { KEPT_LIMITS } from '#kernel/kept-limits.ts';
import { escapeLine } from '#kernel/text.ts';
import { toTaskFiles } from '#sync/task-files.ts';
import { implement } from './operation.ts';
import { writerOf } from './writer.ts';

const DAY_MS = 86_400_000;

type Context = Parameters<ReturnType<typeof implement<typeof collectGarbage>>['run']>[0];

/** After everything was exported: what was changed since the last export is read from the events. */
async function forgetEvents(
  { project: { store }, clock }: Context,
  { events: days = KEPT_LIMITS.event_days }: { readonly events?: number | undefined },
): Promise<{ events: { forgotten: number }; database: { before: number; after: number } }> {
  const { events, database } = await store.pruneEvents(clock.now() - days * DAY_MS);
  return { events: { forgotten: events }, database };
}

/** What agents left: none of it is an agent's own to remove. */
async function keepDisk(ctx: Context): Promise<OutputOf<typeof collectGarbage>['kept']> {
  const { isInsideRun } = await import('#engine/is-inside-run.ts');
  if (isInsideRun(ctx.machine.env)) return null;
  const [{ keepFiles }, { keptPlace }] = await Promise.all([
    import('#engine/keep-files.ts'),
    import('./kept-place.ts'),
  ]);
  const files = await keepFiles(await keptPlace(ctx));
  if (files === undefined) return null;
  const { run_logs, rescues } = files;
  return { run_logs, rescues: [...rescues], worktrees: await keepWorktrees(ctx) };
}

async function keepWorktrees(ctx: Context): Promise<{ attempt_id: string; path: string }[]> {
  if ((await ctx.project.store.listAttempts({ there: true })).length === 0) return [];
  const [{ openControl }, { makeRoom }, { removeOverdue }] = await Promise.all([
    import('#engine/attempt-workspace.ts'),
    import('#engine/keep-room.ts'),
    import('#engine/retire-attempts.ts'),
  ]);
  const workshop = await ctx.workshop();
  const overdue = await removeOverdue(workshop.place);
  const { removed } = await makeRoom(workshop.place, await openControl(workshop.place));
  return [...overdue, ...removed].map(({ id, path }) => ({ attempt_id: id, path }));
}

function tellKept({
  run_logs,
  rescues,
  worktrees,
}: NonNullable<OutputOf<typeof collectGarbage>['kept']>): string[] {
  return [
    ...describeKeptFiles({ run_logs, rescues }),
    ...worktrees.map(({ path }) => escapeLine(`Removed ${path}`)),
  ];
}

export const syncGc = implement<typeof collectGarbage>({
  async run(ctx, input) {
    const { store, paths } = ctx.project;
    const by = await writerOf(ctx);
    // What the files say comes in first, or the pruned would come back from them.
    const files = toTaskFiles(paths);
    const options = {
      by: { ...by, clock: () => ctx.clock.now() },
      source: toExportSource(ctx.project, ctx.machine),
      canonical: true,
      meter: ctx.host.meter,
    };
    const exported = await exportFiles(store, files, options);
    if (input.prune === undefined) {
      const { tasks, history } = exported;
      return {
        tasks,
        history,
        replica: await store.compactReplica(by),
        pruned: { removals: 0, deleted_tasks: 0 },
        ...(await forgetEvents(ctx, input)),
        kept: await keepDisk(ctx),
      };
    }
    const pruned = await store.prune(ctx.clock.now() - input.prune * DAY_MS, by);
    const { tasks, history } = await exportFiles(store, files, { ...options, joined: exported.carried });
    // It was written twice; whoever asks wants to know whether it was at all.
    const written = {
      tasks: { ...tasks, changed: tasks.changed || exported.tasks.changed },
      history: { ...history, changed: history.changed || exported.history.changed },
    };
    return {
      ...written,
      replica: await store.compactReplica(by),
      pruned,
      ...(await forgetEvents(ctx, input)),
      kept: await keepDisk(ctx),
    };
  },
  text({ tasks, replica, pruned, events, database, kept }) {
    const forgot = pruned.removals + pruned.deleted_tasks;
    return [
      `${tasks.path}: ${tasks.changed ? 'written anew' : 'one line a task already'}`,
      `The local replica has ${replica.after} bytes; before it had ${replica.before}`,
      ...(forgot === 0
        ? []
        : [`Forgot ${pruned.removals} removals and ${pruned.deleted_tasks} deleted tasks`]),
      ...(events.forgotten === 0 ? [] : [`Forgot ${events.forgotten} old events`]),
      ...(database.after === database.before
        ? []
        : [`The database has ${database.after} bytes; before it had ${database.before}`]),
      ...(kept === null ? [] : tellKept(kept)),
    ].join('\n');
  },
});
