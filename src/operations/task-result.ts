import type { OutputOf } from '#contract/declare.ts';
import type { taskResult as declaration } from '#contract/wait-operations.ts';
import { ForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { escapeLine, escapeText } from '#kernel/text.ts';
import { implement, type TextView } from './operation.ts';
import { style, styleStatus } from './style-text.ts';

type Result = OutputOf<typeof declaration>;

export const taskResult = implement<typeof declaration>({
  async run(ctx, input) {
    const limit = input.limit ?? LIMITS.result_default_entries;
    const { store } = ctx.project;
    const { id } = await store.readPlace(input.id);
    const [task] = (await store.listBriefs({ ids: [id], max_bytes: Infinity })).tasks;
    if (task === undefined) throw new ForgeError('not_found', `No task ${id}`, { details: { id } });
    const moves = await store.listTransitions({ id, limit, changes_state: true });
    return {
      id: task.id,
      title: task.title,
      status: task.status,
      state: task.state,
      finished: task.status === 'closed',
      assignee: task.assignee,
      close_reason: task.close_reason ?? null,
      closed_at: task.closed_at,
      version: task.version,
      comments: await store.listNewestComments({ id, limit }),
      transitions: moves.map(
        ({ from_state, to_state, created_at: at, triggered_by, trigger_reason: reason }) => ({
          from_state,
          to_state,
          at,
          triggered_by,
          reason,
        }),
      ),
    };
  },
  text: (result, view) =>
    [
      heading(result, view),
      ...result.transitions.map(
        ({ from_state, to_state, at, triggered_by, reason }) =>
          `${style(view, 'dim', at)}  ${escapeLine(from_state ?? '')} -> ${escapeLine(to_state)}  ${escapeLine(triggered_by)}${reason === null ? '' : `  ${escapeLine(reason)}`}`,
      ),
      ...result.comments.map(
        ({ author, body, created_at }) =>
          `${style(view, 'dim', created_at)}  ${escapeLine(author)}: ${escapeText(body).replaceAll('\n', '\n  ')}`,
      ),
    ].join('\n'),
});

function heading(result: Result, view: TextView): string {
  const reason = result.close_reason === null ? '' : `: ${escapeLine(result.close_reason)}`;
  return `${style(view, 'bold', escapeLine(result.id))}  ${escapeLine(result.title)}  [${styleStatus(view, result.status)}] ${escapeLine(result.state)}${reason}`;
}
