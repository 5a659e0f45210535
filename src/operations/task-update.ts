import type { updateTask as declaration } from '#contract/task-operations.ts';
import { checkMetadata, checkSize } from '#domain/metadata.ts';
import { keepOrigin } from '#domain/outside-text.ts';
import { updateTask } from '#engine/change-task.ts';
import { retry } from '#engine/transition-task.ts';
import { ForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { escapeLine } from '#kernel/text.ts';
import { describeFormerOwner } from './describe-former-owner.ts';
import { engineOf } from './engine-of.ts';
import { implement } from './operation.ts';
import { changeReviewConfig, vouchForSteps } from './review-config.ts';
import { warnOfSecrets } from './warn-of-secrets.ts';

export const taskUpdate = implement<typeof declaration>({
  async run(ctx, input) {
    const { metadata_set, review_config, ...rest } = input;
    await warnOfSecrets(ctx, input);
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
    const engine = await engineOf(ctx);
    const { by } = engine;
    keepOrigin(by.actor, [...Object.keys(metadata_set ?? {}), ...(input.metadata_unset ?? [])]);
    // The claim of the agent loop is made by the one it is for, unless somebody else says who asks. Nobody has said
    // that it is an agent's, so that the rules of claims take it for one only where it is registered.
    const claims = input.status === 'in_progress' && typeof input.assignee === 'string' && !by.actor.named;
    const actor =
      claims && typeof input.assignee === 'string'
        ? ({ kind: 'agent', name: input.assignee, named: false } as const)
        : by.actor;
    const update = {
      ...rest,
      ...(metadata_set !== undefined && { metadata_set: checkMetadata(metadata_set) }),
    };
    const writing = { ...engine, by: { ...by, actor } };
    if (review_config === undefined) return updateTask(writing, update);
    // What a change leaves out stays as it is, so it is looked at first, and again where somebody was faster.
    const task = await retry(input.version === undefined, async () => {
      const { task: now } = await engine.store.readStanding(input.id);
      const review = changeReviewConfig(now.review_config, review_config);
      const workflow_fields = new Map([['review_config', review]]);
      return updateTask(writing, { ...update, workflow_fields, version: input.version ?? now.version });
    });
    await vouchForSteps(ctx, review_config);
    return task;
  },
  text(task) {
    const title = escapeLine(task.title);
    const former = describeFormerOwner(task);
    if (task.claimed === false) return `Not claimed: ${escapeLine(task.id)} is ${standing(task)}`;
    if (task.claimed === true)
      return [
        `Claimed task ${escapeLine(task.id)} for ${escapeLine(task.assignee ?? '')}: ${title}`,
        ...former,
      ].join('\n');
    return [`Updated task ${escapeLine(task.id)}: ${title}`, ...former].join('\n');
  },
});

function standing({ status, assignee }: { status: string; assignee: string | null }): string {
  if (assignee === null) return status;
  return status === 'open'
    ? `reserved for ${escapeLine(assignee)}`
    : `${status} with ${escapeLine(assignee)}`;
}
