import type { archiveTask as declaration } from '#contract/workflow-operations.ts';
import { endLost } from '#engine/end-lost.ts';
import { toIso } from '#kernel/clock.ts';
import { escapeLine } from '#kernel/text.ts';
import { describeFormerOwner } from './describe-former-owner.ts';
import { implement } from './operation.ts';
import { writerOf } from './writer.ts';

export const taskArchive = implement<typeof declaration>({
  async run(ctx, { id, version, fence }) {
    const by = await writerOf(ctx);
    const { store } = ctx.project;
    const { task } = await store.readStanding(id);
    if (task.archived_at !== undefined && version === undefined && fence === undefined) return task;
    const workflow_fields = new Map([['archived_at', toIso(by.now)]]);
    const archived = await store.updateTask({ id: task.id, version, fence, workflow_fields }, by);
    await endLost({ store, work: ctx.workshop }, task.id);
    return archived;
  },
  text: (task) =>
    [`Archived task ${escapeLine(task.id)}: ${escapeLine(task.title)}`, ...describeFormerOwner(task)].join(
      '\n',
    ),
});
