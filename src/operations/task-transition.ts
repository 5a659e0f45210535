import type { transitionTask as declaration } from '#contract/workflow-operations.ts';
import { transitionTask } from '#engine/transition-task.ts';
import { escapeLine } from '#kernel/text.ts';
import { engineOf } from './engine-of.ts';
import { implement } from './operation.ts';

export const taskTransition = implement<typeof declaration>({
  async run(ctx, { id, state, reason, version, fence }) {
    const engine = await engineOf(ctx);
    return transitionTask(engine, { id, to: state, reason: reason ?? null, version, fence });
  },
  text: (task) => `${escapeLine(task.id)} is in ${escapeLine(task.state)}: ${escapeLine(task.title)}`,
});
