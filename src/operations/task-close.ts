import type { OutputOf } from '#contract/declare.ts';
import type { closeTask as declaration } from '#contract/task-operations.ts';
import type { Task } from '#contract/task.ts';
import { closeTask } from '#engine/change-task.ts';
import { ignoreGone } from '#engine/find-standing.ts';
import { escapeLine } from '#kernel/text.ts';
import { describeFormerOwner } from './describe-former-owner.ts';
import { engineOf } from './engine-of.ts';
import { implement, type OperationContext } from './operation.ts';
import { warnOfSecrets } from './warn-of-secrets.ts';

export const taskClose = implement<typeof declaration>({
  async run(ctx, input) {
    await warnOfSecrets(ctx, input);
    const closed = await closeTask(await engineOf(ctx), input);
    return { ...closed, ...(await readFamily(ctx, closed)) };
  },
  text: (task) =>
    [
      `Closed task ${escapeLine(task.id)}: ${escapeLine(task.title)} (${escapeLine(task.close_reason ?? '')})`,
      ...describeFormerOwner(task),
      ...(task.open_children === undefined
        ? []
        : [`Still open below it: ${escapeLine(task.open_children.join(', '))}`]),
      ...(task.finished_epic === undefined
        ? []
        : [
            `It was the last open task of ${escapeLine(task.finished_epic)}: forge task close ${escapeLine(task.finished_epic)} --reason "…"`,
          ]),
      ...(task.unblocked.length > 0
        ? [`Now ready: ${escapeLine(task.unblocked.join(', '))}${andMore(task.unblocked_more)}`]
        : []),
    ].join('\n'),
});

function andMore(count = 0): string {
  return count === 0 ? '' : `, and ${count} more`;
}

/** What is left of an epic that was closed, and the epic that nothing is left of by this. */
async function readFamily(
  { project: { store } }: OperationContext,
  { id, type, parent_id }: Task,
): Promise<Pick<OutputOf<typeof declaration>, 'open_children' | 'finished_epic'>> {
  const children = type === 'epic' ? await store.listTasks({ parent_id: id, include_archived: true }) : [];
  const open = children.filter(({ status }) => status !== 'closed').map((child) => child.id);
  const parent = parent_id === null ? undefined : await store.getTask(parent_id).catch(ignoreGone);
  const isFinished =
    parent?.type === 'epic' && parent.status !== 'closed' && parent.closed_child_count === parent.child_count;
  return {
    ...(open.length > 0 && { open_children: open }),
    ...(isFinished && { finished_epic: parent.id }),
  };
}
