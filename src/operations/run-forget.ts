import type { forgetRun as declaration } from '#contract/run-operations.ts';
import { ForgeError } from '#kernel/errors.ts';
import { escapeLine } from '#kernel/text.ts';
import { requirePerson } from './answer-approval.ts';
import { implement } from './operation.ts';
import { describeRule, SHORT_ID } from './run-text.ts';
import { writerOf } from './writer.ts';

export const runForget = implement<typeof declaration>({
  async run(ctx, { id, approval }) {
    await requirePerson(ctx);
    const { store } = ctx.project;
    const { task_id, id: run } = await store.getRun(id);
    const ref = approval?.toLowerCase();
    const known = await store.listApprovals({ task_id, always: true });
    if (ref !== undefined && !known.some((one) => one.id.startsWith(ref))) {
      throw new ForgeError('not_found', `Nothing is allowed for the rest of ${task_id} by ${ref}`, {
        hint: `forge runs show ${run.slice(0, SHORT_ID)}`,
        details: { id: ref },
      });
    }
    return store.forgetApprovals({ task_id, id: ref }, await writerOf(ctx));
  },
  text: (forgotten) =>
    forgotten.length === 0
      ? 'Nothing was allowed for the rest of the task'
      : forgotten.map((one) => escapeLine(`Asks again in ${one.task_id}: ${describeRule(one)}`)).join('\n'),
});
