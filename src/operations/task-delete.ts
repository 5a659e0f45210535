import type { deleteTask } from '#contract/task-operations.ts';
import type { Task } from '#contract/task.ts';
import { endLost } from '#engine/end-lost.ts';
import { ForgeError } from '#kernel/errors.ts';
import { escapeLine } from '#kernel/text.ts';
import { describeFormerOwner } from './describe-former-owner.ts';
import { implement } from './operation.ts';
import { writerOf } from './writer.ts';

/** An agent takes back what it has written down or works on; what others count on is for a person to delete. */
function refuseOthers({ id, assignee, created_by }: Task, agent: string): void {
  if (assignee === agent || created_by === agent) return;
  throw new ForgeError('permission_denied', `${agent} cannot delete ${id}: it is not its own`, {
    hint: `forge task comment ${id} "…"`,
    details: { id, assignee, created_by },
  });
}

export const taskDelete = implement<typeof deleteTask>({
  async run(ctx, input) {
    const { store } = ctx.project;
    const by = await writerOf(ctx);
    if (by.actor.kind === 'agent') refuseOthers(await store.getTask(input.id), by.actor.name);
    const gone = await store.deleteTask(input, by);
    await endLost({ store, work: ctx.workshop }, gone.id);
    return gone;
  },
  text: (gone) =>
    [
      `Deleted task ${escapeLine(gone.id)}: ${escapeLine(gone.title)}`,
      ...describeFormerOwner(gone),
      ...(gone.orphaned.length > 0 ? [`Without a parent now: ${escapeLine(gone.orphaned.join(', '))}`] : []),
      ...(gone.unblocked.length > 0 ? [`No longer blocked: ${escapeLine(gone.unblocked.join(', '))}`] : []),
      `Undo: forge task restore ${escapeLine(gone.id)}`,
    ].join('\n'),
});
