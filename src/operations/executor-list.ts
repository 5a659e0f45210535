import type { listExecutorTypes as declaration } from '#contract/agent-operations.ts';
import { listExecutorTypes } from '#engine/executor-kinds.ts';
import { implement } from './operation.ts';
import { style } from './style-text.ts';
import { tableText } from './table-text.ts';

export const executorList = implement<typeof declaration>({
  run: async () =>
    listExecutorTypes().map(({ kind, summary, cli, options }) => ({
      kind,
      summary,
      program: cli?.program ?? null,
      package: cli?.package ?? null,
      options: { ...options },
    })),
  text: (types, view) =>
    tableText(
      view,
      [
        { header: 'KIND', value: ({ kind }) => kind, style: (text) => style(view, 'bold', text) },
        { header: 'PROGRAM', value: ({ program }) => program ?? '-' },
        { header: 'WHAT', value: ({ summary }) => summary, flexible: true, minimum: 24 },
      ],
      types,
    ),
});
