import type { cancelTask as declaration } from '#contract/workflow-operations.ts';
import { transitionTask } from '#engine/transition-task.ts';
import { escapeLine } from '#kernel/text.ts';
import { engineOf } from './engine-of.ts';
import { implement } from './operation.ts';

export const taskCancel = implement<typeof declaration>({
  async run(ctx, { id, reason, version }) {
    const engine = await engineOf(ctx);
    return transitionTask(engine, { id, to: engine.workflow.cancelled, reason: reason ?? null, version });
  },
  text: (task) => `Cancelled task ${escapeLine(task.id)}: ${escapeLine(task.title)}`,
});
