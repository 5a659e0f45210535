import type { archiveTask as declaration } from '#contract/workflow-operations.ts';
import { toIso } from '#kernel/clock.ts';
import { escapeLine } from '#kernel/text.ts';
import { implement } from './operation.ts';
import { writerOf } from './writer.ts';

export const taskArchive = implement<typeof declaration>({
  async run(ctx, { id, version, fence }) {
    const by = await writerOf(ctx);
    const { task } = await ctx.project.store.readStanding(id);
    if (task.archived_at !== undefined && version === undefined && fence === undefined) return task;
    const workflow_fields = new Map([['archived_at', toIso(by.now)]]);
    return ctx.project.store.updateTask({ id: task.id, version, fence, workflow_fields }, by);
  },
  text: (task) => `Archived task ${escapeLine(task.id)}: ${escapeLine(task.title)}`,
});
