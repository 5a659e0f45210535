import type { taskHistory as declaration } from '#contract/task-operations.ts';
import { escapeLine } from '#kernel/text.ts';
import { implement } from './operation.ts';
import { style } from './style-text.ts';

export const taskHistory = implement<typeof declaration>({
  run: (ctx, input) => ctx.project.store.readHistory({ id: input.id, limit: input.limit }),
  text: (entries, view) =>
    entries
      .map((entry) => {
        const move =
          entry.from_state === null || entry.from_state === entry.to_state
            ? ''
            : `  (${entry.from_state} -> ${entry.to_state ?? ''})`;
        return `${style(view, 'dim', entry.at)}  ${escapeLine(entry.triggered_by)}  ${escapeLine(entry.summary)}${escapeLine(move)}`;
      })
      .join('\n'),
});
