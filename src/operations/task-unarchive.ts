import type { unarchiveTask as declaration } from '#contract/workflow-operations.ts';
import { escapeLine } from '#kernel/text.ts';
import { implement } from './operation.ts';
import { writerOf } from './writer.ts';

export const taskUnarchive = implement<typeof declaration>({
  async run(ctx, { id, version, fence }) {
    const workflow_fields = new Map([['archived_at', null]]);
    return ctx.project.store.updateTask({ id, version, fence, workflow_fields }, await writerOf(ctx));
  },
  text: (task) => `${escapeLine(task.id)} is in the lists again: ${escapeLine(task.title)}`,
});
