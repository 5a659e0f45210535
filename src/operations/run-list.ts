import type { listRuns as declaration } from '#contract/run-operations.ts';
import { implement } from './operation.ts';
import { runTable } from './run-text.ts';

const DEFAULT_LIMIT = 50;

export const runList = implement<typeof declaration>({
  run: ({ project: { store } }, { task, attempt, agent, open, limit = DEFAULT_LIMIT }) =>
    store.listRuns({ task_id: task, attempt_id: attempt, agent, open, limit }),
  text: (runs, view) => (runs.length === 0 ? 'No runs.' : runTable(view, runs)),
});
