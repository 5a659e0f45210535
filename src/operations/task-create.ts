import type { createTask } from '#contract/task-operations.ts';
import type { ReviewConfigChange } from '#contract/task.ts';
import { inheritGates } from '#domain/inherit-gates.ts';
import { checkMetadata, checkSize } from '#domain/metadata.ts';
import { PROPOSED_LABEL } from '#domain/list-waiting.ts';
import { keepOrigin } from '#domain/outside-text.ts';
import { isParked, type ResolvedWorkflow } from '#domain/workflow.ts';
import { ForgeError } from '#kernel/errors.ts';
import type { Json } from '#kernel/json.ts';
import { LIMITS } from '#kernel/limits.ts';
import { escapeLine } from '#kernel/text.ts';
import { isMadeInRun } from './find-maker.ts';
import { maybeForeign } from './maybe-foreign.ts';
import { implement, type OperationContext } from './operation.ts';
import { changeReviewConfig, vouchForSteps } from './review-config.ts';
import { writerOf } from './writer.ts';
import { warnOfSecrets } from './warn-of-secrets.ts';

export const taskCreate = implement<typeof createTask>({
  async run(ctx, input) {
    const { store, config } = ctx.project;
    await warnOfSecrets(ctx, input);
    checkSize(input.description ?? '', 'The description', LIMITS.description_bytes);
    const by = await writerOf(ctx);
    keepOrigin(by.actor, Object.keys(input.metadata_set ?? {}));
    const depends_on = await sortBlockers(ctx, input.depends_on ?? []);
    const workflow_fields = await findGates(ctx, input.review_config ?? null);
    const parked = await findParking(ctx);
    const task = await store.createTask(
      {
        id_prefix: config.idPrefix,
        title: input.title,
        description: input.description ?? '',
        type: input.type ?? config.settings.defaultType,
        priority: input.priority ?? config.settings.defaultPriority,
        state: parked ?? findState(ctx.project.workflow(), input.state),
        parent_id: input.parent_id ?? null,
        assignee: input.assignee ?? null,
        labels: [...(input.labels ?? []), ...(parked === undefined ? [] : [PROPOSED_LABEL])],
        github_issue: input.github_issue ?? null,
        ...depends_on,
        metadata: checkMetadata(input.metadata_set ?? {}),
        ...(workflow_fields.size > 0 && { workflow_fields }),
      },
      by,
    );
    await vouchForSteps(ctx, input.review_config);
    if (parked === undefined) return task;
    const go = `forge task transition ${task.id} ${ctx.project.workflow().initial}`;
    return { ...task, note: `It waits in ${parked} until a person lets it go: ${go}` };
  },
  text: ({ id, title, note }) =>
    [`Created task ${id}: ${title}`, ...(note === undefined ? [] : [note])].map(escapeLine).join('\n'),
});

/**
 * Where a task waits that an agent creates from a run of a task which an agent created so itself: without a person in
 * between, agents would give each other work without end. Undefined for every other task.
 */
async function findParking({ gated_by, project }: OperationContext): Promise<string | undefined> {
  const { store, workflow } = project;
  if (gated_by === undefined || !(await isMadeInRun(store, gated_by))) return undefined;
  const [parked] = workflow().parked_states;
  if (parked !== undefined) return parked;
  throw new ForgeError('permission_denied', `${gated_by} was created by an agent: it cannot create more`, {
    hint: 'Say what you need in a comment on your task: a person creates a task for it',
    details: { task_id: gated_by },
  });
}

/** What its work will be judged by. */
async function findGates(
  { gated_by, project: { store, workflow } }: OperationContext,
  asked: ReviewConfigChange | null,
): Promise<ReadonlyMap<string, Json>> {
  if (gated_by !== undefined) return inheritGates(workflow(), (await store.readStanding(gated_by)).task);
  const review = changeReviewConfig(undefined, asked);
  return review === null ? new Map() : new Map([['review_config', review]]);
}

/** Where tasks begin: in the queue, or parked. */
function findState(workflow: ResolvedWorkflow, wanted: string | undefined): string {
  if (wanted === undefined || wanted === workflow.initial) return workflow.initial;
  if (isParked(workflow, wanted)) return wanted;
  const known = [workflow.initial, ...workflow.parked_states];
  throw new ForgeError('invalid_input', `A task begins in ${known.join(' or ')}, not in ${wanted}`, {
    hint: 'forge workflow show',
    details: { state: wanted, known },
  });
}

/** Tasks of this project, and those of others by their whole ids. */
async function sortBlockers(
  ctx: OperationContext,
  refs: readonly string[],
): Promise<{ depends_on: string[]; foreign_depends_on: string[] }> {
  const sorted = { depends_on: [] as string[], foreign_depends_on: [] as string[] };
  for (const ref of refs) {
    const foreign = maybeForeign(ref, ctx.project.config.idPrefix)
      ? await (await import('./find-foreign-target.ts')).findForeignTarget(ctx, ref, { force: false })
      : undefined;
    if (foreign === undefined) sorted.depends_on.push(ref);
    else sorted.foreign_depends_on.push(foreign);
  }
  return sorted;
}
