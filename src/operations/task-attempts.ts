import type { listAttempts as declaration } from '#contract/run-operations.ts';
import { viewAttempts } from '#engine/view-attempts.ts';
import { attemptTable } from './attempt-table.ts';
import { implement } from './operation.ts';

export const taskAttempts = implement<typeof declaration>({
  async run(ctx, { id }) {
    const { id: task_id } = await ctx.project.store.findTask(id);
    const { place } = await ctx.workshop();
    return (await viewAttempts(place, { task_id })).map(({ view }) => view);
  },
  text: (attempts, view) => (attempts.length === 0 ? 'No attempts.' : attemptTable(view, attempts)),
});
