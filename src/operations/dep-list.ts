import type { OutputOf } from '#contract/declare.ts';
import type { listDependencies } from '#contract/resource-operations.ts';
import { implement } from './operation.ts';
import { tableText } from './table-text.ts';

type Row = OutputOf<typeof listDependencies>[number];

export const depList = implement<typeof listDependencies>({
  async run({ project: { store, foreign } }, { id }) {
    const { dependencies } = await store.getTask(id);
    if (foreign.size === 0) return dependencies;
    const { fillDependency } = await import('./fill-foreign.ts');
    return dependencies.map((edge) => fillDependency(edge, foreign));
  },
  text(edges, view) {
    if (edges.length === 0) return 'It depends on nothing.';
    return tableText<Row>(
      view,
      [
        { header: 'ID', value: ({ id }) => id },
        { header: 'TYPE', value: ({ type }) => type },
        { header: 'STATUS', value: ({ resolved }) => resolved?.status ?? 'unknown' },
        { header: 'TITLE', value: ({ resolved }) => resolved?.title ?? '', flexible: true },
      ],
      edges,
    );
  },
});
