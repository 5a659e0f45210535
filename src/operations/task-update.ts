import type { updateTask } from '#contract/task-operations.ts';
import { checkMetadata, checkSize } from '#domain/metadata.ts';
import { ForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { escapeLine } from '#kernel/text.ts';
import { implement } from './operation.ts';
import { writerOf } from './writer.ts';

export const taskUpdate = implement<typeof updateTask>({
  async run(ctx, input) {
    const { metadata_set, ...rest } = input;
    if (Object.keys(input).length === 1) {
      throw new ForgeError('usage', 'Nothing to update: give at least one flag', {
        hint: 'forge task update --help',
      });
    }
    if (input.reason !== undefined && input.status !== 'closed') {
      throw new ForgeError('usage', '--reason belongs to --status closed', {
        hint: `forge task close ${input.id} --reason "…"`,
      });
    }
    checkSize(input.description ?? '', 'The description', LIMITS.description_bytes);
    const by = await writerOf(ctx);
    // The claim of the agent loop is made by the one it is for, unless somebody else says who asks.
    const claims = input.status === 'in_progress' && typeof input.assignee === 'string' && !by.actor.named;
    const actor =
      claims && typeof input.assignee === 'string'
        ? ({ kind: 'agent', name: input.assignee, named: true } as const)
        : by.actor;
    return ctx.project.store.updateTask(
      { ...rest, ...(metadata_set !== undefined && { metadata_set: checkMetadata(metadata_set) }) },
      { ...by, actor },
    );
  },
  text(task) {
    const title = escapeLine(task.title);
    if (task.claimed === false) return `Not claimed: ${escapeLine(task.id)} is ${standing(task)}`;
    if (task.claimed === true)
      return `Claimed task ${escapeLine(task.id)} for ${escapeLine(task.assignee ?? '')}: ${title}`;
    return `Updated task ${escapeLine(task.id)}: ${title}`;
  },
});

function standing({ status, assignee }: { status: string; assignee: string | null }): string {
  if (assignee === null) return status;
  return status === 'open'
    ? `reserved for ${escapeLine(assignee)}`
    : `${status} with ${escapeLine(assignee)}`;
}
