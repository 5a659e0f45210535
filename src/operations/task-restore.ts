import type { restoreTask } from '#contract/task-operations.ts';
import { escapeLine } from '#kernel/text.ts';
import { rememberTask } from '#sync/remember-task.ts';
import { implement } from './operation.ts';
import { writerOf } from './writer.ts';

export const taskRestore = implement<typeof restoreTask>({
  async run(ctx, input) {
    const { store, paths } = ctx.project;
    const deleted = await store.readDeleted(input.id);
    // What the store forgot, or never knew because another clone deleted the task, is in git.
    const remembered = deleted.knows.links
      ? undefined
      : await rememberTask(paths, deleted, { machine: ctx.machine, meter: ctx.host.meter });
    return store.restoreTask({ ...input, remembered }, await writerOf(ctx));
  },
  text: (task) => `Restored task ${escapeLine(task.id)}: ${escapeLine(task.title)}`,
});
