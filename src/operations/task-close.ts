import type { closeTask as declaration } from '#contract/task-operations.ts';
import { closeTask } from '#engine/change-task.ts';
import { escapeLine } from '#kernel/text.ts';
import { engineOf } from './engine-of.ts';
import { implement } from './operation.ts';
import { warnOfSecrets } from './warn-of-secrets.ts';

export const taskClose = implement<typeof declaration>({
  async run(ctx, input) {
    warnOfSecrets(ctx, input);
    return closeTask(await engineOf(ctx), input);
  },
  text: (task) =>
    [
      `Closed task ${escapeLine(task.id)}: ${escapeLine(task.title)} (${escapeLine(task.close_reason ?? '')})`,
      ...(task.unblocked.length > 0 ? [`Now ready: ${escapeLine(task.unblocked.join(', '))}`] : []),
    ].join('\n'),
});
