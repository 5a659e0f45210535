import type { commitTasks as declaration } from '#contract/sync-operations.ts';
import { escapeLine } from '#kernel/text.ts';
import { commitTasks } from '#sync/commit-tasks.ts';
import { implement } from './operation.ts';
import { writerOf } from './writer.ts';

export const syncCommit = implement<typeof declaration>({
  run: async (ctx, input) =>
    commitTasks(ctx.project, {
      by: await writerOf(ctx),
      machine: ctx.machine,
      message: input.message,
    }),
  text: ({ commit, changed, branch }) =>
    changed && commit !== null
      ? `Committed the tasks on ${escapeLine(branch ?? 'a detached HEAD')}: ${commit.slice(0, 10)}`
      : 'The tasks are committed already',
});
