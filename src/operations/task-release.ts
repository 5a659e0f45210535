import type { releaseTask as declaration } from '#contract/claim-operations.ts';
import { releaseTask } from '#engine/change-task.ts';
import { escapeLine } from '#kernel/text.ts';
import { describeFormerOwner } from './describe-former-owner.ts';
import { engineOf } from './engine-of.ts';
import { implement } from './operation.ts';

export const taskRelease = implement<typeof declaration>({
  async run(ctx, input) {
    const engine = await engineOf(ctx);
    const { id, fence, reason = null, force = false } = input;
    return releaseTask(engine, { id, fence, owner: engine.by.actor.name, force, reason });
  },
  text: (task) =>
    [`Released task ${escapeLine(task.id)}: ${escapeLine(task.title)}`, ...describeFormerOwner(task)].join(
      '\n',
    ),
});
