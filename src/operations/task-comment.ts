import type { commentTask } from '#contract/task-log-operations.ts';
import { checkSize } from '#domain/metadata.ts';
import { LIMITS } from '#kernel/limits.ts';
import { escapeLine } from '#kernel/text.ts';
import { implement } from './operation.ts';
import { writerOf } from './writer.ts';
import { warnOfSecrets } from './warn-of-secrets.ts';

export const taskComment = implement<typeof commentTask>({
  async run(ctx, input) {
    checkSize(input.body, 'A comment', LIMITS.comment_bytes);
    await warnOfSecrets(ctx, input);
    return ctx.project.store.addComment(
      { id: input.id, body: input.body, reply_to: input.reply_to ?? null, fence: input.fence },
      await writerOf(ctx),
    );
  },
  text: (comment) => `Added comment ${escapeLine(comment.id)} to ${escapeLine(comment.task_id)}`,
});
