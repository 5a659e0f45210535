import type { listComments } from '#contract/task-log-operations.ts';
import { escapeLine, escapeText } from '#kernel/text.ts';
import { implement } from './operation.ts';
import { style } from './style-text.ts';

export const taskComments = implement<typeof listComments>({
  run: async ({ project: { store } }, { id }) => (await store.getTask(id)).comments,
  text(comments, view) {
    if (comments.length === 0) return 'No comments.';
    return comments
      .map(({ id, author, body, reply_to, created_at }) => {
        const answers = reply_to === null ? '' : `, answers ${escapeLine(reply_to)}`;
        const head = `${escapeLine(author)}  ${created_at.slice(0, 16)}  ${escapeLine(id)}${answers}`;
        return `${style(view, 'bold', head)}\n${escapeText(body)}`;
      })
      .join('\n\n');
  },
});
