import type { exportTasks } from '#contract/sync-operations.ts';
import { exportFiles } from '#sync/export-files.ts';
import { tellUncommitted } from '#sync/flag-secrets.ts';
import { toExportSource } from '#sync/export-source.ts';
import { toGitRepo } from '#sync/machine.ts';
import { HISTORY_PATH, TASKS_PATH, toTaskFiles } from '#sync/task-files.ts';
import { implement } from './operation.ts';
import { writerOf } from './writer.ts';

export const syncExport = implement<typeof exportTasks>({
  async run(ctx, input) {
    const { store, paths, config } = ctx.project;
    const by = { ...(await writerOf(ctx)), clock: () => ctx.clock.now() };
    const canonical = input.gc === true || config.settings.gcOnExport;
    const { tasks, history } = await exportFiles(store, toTaskFiles(paths), {
      by,
      source: toExportSource(ctx.project, ctx.machine),
      canonical,
      meter: ctx.host.meter,
    });
    if (config.initMode === 'standard') {
      const { machine } = ctx;
      const repo = toGitRepo(paths.root, machine);
      for (const line of await tellUncommitted(repo, toTaskFiles(paths), { paths, machine }))
        ctx.host.notice(line);
    }
    return { tasks, history };
  },
  text: ({ tasks, history }) =>
    tasks.changed || history.changed
      ? `Wrote ${[tasks.changed && TASKS_PATH, history.changed && HISTORY_PATH].filter((path) => path !== false).join(' and ')}`
      : `${TASKS_PATH} is up to date`,
});
