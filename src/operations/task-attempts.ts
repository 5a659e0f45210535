import type { Attempt } from '#contract/attempt.ts';
import type { listAttempts as declaration } from '#contract/run-operations.ts';
import { implement } from './operation.ts';
import { SHORT_ID } from './run-text.ts';
import { tableText } from './table-text.ts';

export const taskAttempts = implement<typeof declaration>({
  run: ({ project: { store } }, { id }) => store.listAttempts({ task_id: id }),
  text(attempts, view) {
    if (attempts.length === 0) return 'No attempts.';
    return tableText<Attempt>(
      view,
      [
        { header: 'NO', value: ({ number }) => String(number), align: 'right' },
        { header: 'ATTEMPT', value: ({ id }) => id.slice(0, SHORT_ID) },
        { header: 'STATE', value: ({ state }) => state },
        { header: 'AGENT', value: ({ agent }) => agent ?? '' },
        { header: 'BRANCH', value: ({ branch }) => branch },
        {
          header: 'WORKTREE',
          value: ({ path, removed_at }) => (removed_at === null ? path : `removed ${removed_at}`),
          flexible: true,
          minimum: 20,
        },
      ],
      attempts,
    );
  },
});
