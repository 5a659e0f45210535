import type { OutputOf } from '#contract/declare.ts';
import type { listClis as declaration } from '#contract/workspace-operations.ts';
import { findClisHere } from '#executors/find-clis-here.ts';
import { implement } from './operation.ts';
import { style } from './style-text.ts';
import { tableText } from './table-text.ts';

type Row = OutputOf<typeof declaration>[number];

export const cliList = implement<typeof declaration>({
  run: async ({ machine: { env } }) => [...(await findClisHere({ env }))],
  text: (clis, view) =>
    tableText<Row>(
      view,
      [
        { header: 'EXECUTOR', value: ({ executor }) => executor, style: (text) => style(view, 'bold', text) },
        { header: 'VERSION', value: ({ version }) => version ?? '-' },
        { header: 'ANSWERS', value: ({ answers }) => (answers ? 'yes' : 'no') },
        { header: 'PATH', value: ({ path }) => path ?? '-', flexible: 'first', minimum: 12 },
        {
          header: 'PROBLEM',
          value: ({ problem, found, install }) =>
            problem === null ? '' : found || install === null ? problem : `${problem}; ${install}`,
          flexible: true,
          minimum: 20,
        },
      ],
      clis,
    ),
});
