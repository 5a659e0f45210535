import type { sendToRun as declaration } from '#contract/run-operations.ts';
import { isEnded } from '#domain/run-states.ts';
import { ForgeError } from '#kernel/errors.ts';
import { implement } from './operation.ts';
import { SHORT_ID } from './run-text.ts';
import { writerOf } from './writer.ts';

export const runSend = implement<typeof declaration>({
  async run(ctx, { id, text }) {
    const { store } = ctx.project;
    const run = await store.getRun(id);
    const attempt = await store.getAttempt(run.attempt_id);
    if (attempt.state !== 'active') {
      throw new ForgeError(
        'state_invalid',
        `Attempt ${attempt.name} is ${attempt.state}: nobody will read it`,
        {
          hint: `forge task comment ${run.task_id} "…"`,
          details: { id: run.id, attempt: attempt.id },
        },
      );
    }
    await store.addMessage({ attempt_id: attempt.id, body: text }, await writerOf(ctx));
    return { run_id: run.id, attempt_id: attempt.id, reaches: isEnded(run.state) ? 'next_run' : 'now' };
  },
  text: ({ run_id, reaches }) =>
    reaches === 'now'
      ? `Said to run ${run_id.slice(0, SHORT_ID)}`
      : `Run ${run_id.slice(0, SHORT_ID)} has ended: the next one in its worktree will be told`,
});
