import type { taskTransitions as declaration } from '#contract/workflow-operations.ts';
import { SERVED_LIMITS } from '#kernel/served-limits.ts';
import { implement } from './operation.ts';
import { tableText } from './table-text.ts';

export const taskTransitions = implement<typeof declaration>({
  run(ctx, { id, limit }) {
    const most = SERVED_LIMITS.history_entries;
    return ctx.project.store.listTransitions({
      id,
      limit: ctx.stays ? Math.min(limit ?? most, most) : limit,
    });
  },
  text(moves, view) {
    if (moves.length === 0) return 'It never moved.';
    return tableText(
      view,
      [
        { header: 'AT', value: ({ created_at }) => created_at },
        { header: 'FROM', value: ({ from_state }) => from_state },
        {
          header: 'TO',
          value: ({ to_state, rejection }) => (rejection ? `${to_state} (rejected)` : to_state),
        },
        { header: 'BY', value: ({ triggered_by }) => triggered_by },
        {
          header: 'REASON',
          value: ({ trigger_reason }) => trigger_reason ?? '',
          flexible: true,
          minimum: 16,
        },
        {
          header: 'HOOKS',
          value: ({ hook_results }) =>
            (hook_results ?? []).map(({ action, outcome }) => `${action} ${outcome}`).join(', '),
          flexible: 'first',
        },
      ],
      moves,
    );
  },
});
