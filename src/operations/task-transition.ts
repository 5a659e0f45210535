import type { Review } from '#contract/attempt.ts';
import type { Task, TaskView } from '#contract/task.ts';
import type { transitionTask as declaration } from '#contract/workflow-operations.ts';
import type { Actor } from '#domain/actor.ts';
import { transitionTask } from '#engine/transition-task.ts';
import { escapeLine } from '#kernel/text.ts';
import { describeFormerOwner } from './describe-former-owner.ts';
import { engineOf } from './engine-of.ts';
import { implement, type OperationContext } from './operation.ts';
import { kindOf } from '#domain/workflow.ts';
import { waitOf } from './wait-place.ts';
import { warnOfSecrets } from './warn-of-secrets.ts';

export const taskTransition = implement<typeof declaration>({
  async run(ctx, { id, state, reason, version, fence }) {
    await warnOfSecrets(ctx, { reason });
    const engine = await engineOf(ctx);
    const before = await findReview(ctx, id);
    const task = await transitionTask(engine, { id, to: state, reason: reason ?? null, version, fence });
    const review = await findReview(ctx, task.id);
    // A person who parks a task knows where it is.
    const isParked =
      task.error_annotation === undefined &&
      ['custom', 'backlog'].includes(kindOf(ctx.project.workflow(), task.state) ?? '');
    const wait = isParked ? {} : await waitOf(ctx, task);
    const more = { ...wait, ...(await findOpenBlockers(ctx, engine.by.actor, task)) };
    return review === undefined || review.id === before?.id
      ? { ...task, ...more }
      : { task, review, ...more };
  },
  text(answer) {
    const [task, review] = 'task' in answer ? [answer.task, answer.review] : [answer, undefined];
    const moved = `${escapeLine(task.id)} is in ${escapeLine(task.state)}: ${escapeLine(task.title)}`;
    const lines = [
      moved,
      ...describeFormerOwner(task),
      ...describeBlockers(answer),
      ...(review === undefined ? [] : [describe(review)]),
      ...describeWait(task, answer),
    ];
    return lines.join('\n');
  },
});

/** The default workflow keeps only agents from work that waits; a person is told what they passed over. */
async function findOpenBlockers(
  { project }: OperationContext,
  actor: Pick<Actor, 'kind'>,
  task: Task,
): Promise<{ waits_for?: string[] }> {
  if (actor.kind !== 'user' || kindOf(project.workflow(), task.state) !== 'active') return {};
  const { blockers } = await project.store.readStanding(task.id);
  return blockers.length === 0 ? {} : { waits_for: blockers.map(({ id }) => id) };
}

function describeBlockers({ waits_for }: { readonly waits_for?: readonly string[] | undefined }): string[] {
  return waits_for === undefined ? [] : [`It still waits for ${escapeLine(waits_for.join(', '))}`];
}

/** Why it does not go on by itself, and what helps. */
function describeWait({ error_annotation: trouble }: Task, { wait }: Pick<TaskView, 'wait'>): string[] {
  if (wait !== undefined) return [`Waits: ${escapeLine(wait.message)}`, `Go on: ${escapeLine(wait.command)}`];
  return trouble === undefined ? [] : [`Waits: ${escapeLine(trouble.message)}`];
}

async function findReview({ project }: OperationContext, id: string): Promise<Review | undefined> {
  const { id: task_id }: Pick<Task, 'id'> = await project.store.findTask(id);
  return (await project.store.listReviews({ task_id })).at(-1);
}

function describe({ status, step_results }: Review): string {
  const steps = step_results.map(({ command, outcome }) => `  ${outcome}: ${escapeLine(command)}`);
  return [`Review ${status}`, ...steps].join('\n');
}
