import type { cancelTask as declaration } from '#contract/workflow-operations.ts';
import { transitionTask } from '#engine/transition-task.ts';
import { escapeLine } from '#kernel/text.ts';
import { describeFormerOwner } from './describe-former-owner.ts';
import { engineOf } from './engine-of.ts';
import { implement } from './operation.ts';

export const taskCancel = implement<typeof declaration>({
  async run(ctx, { id, reason, version, fence }) {
    const engine = await engineOf(ctx);
    const to = engine.workflow.cancelled;
    return transitionTask(engine, { id, to, reason: reason ?? null, version, fence });
  },
  text: (task) =>
    [`Cancelled task ${escapeLine(task.id)}: ${escapeLine(task.title)}`, ...describeFormerOwner(task)].join(
      '\n',
    ),
});
