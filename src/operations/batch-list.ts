import type { OutputOf } from '#contract/declare.ts';
import type { listBatches as declaration } from '#contract/home-operations.ts';
import { listBatches } from '#sync/batches.ts';
import { implement } from './operation.ts';
import { countsText, readBatches } from './read-batch.ts';
import { style } from './style-text.ts';
import { tableText } from './table-text.ts';

type Row = OutputOf<typeof declaration>[number];

export const batchList = implement<typeof declaration>({
  async run(ctx, input) {
    const all = listBatches(ctx.place.home);
    return readBatches(
      ctx,
      all.filter((batch) => input.all === true || batch.closed_at === null),
    );
  },
  text(batches, view) {
    if (batches.length === 0) return 'No batch is followed. Start one: forge batch create <name> <ids...>';
    return tableText<Row>(
      view,
      [
        { header: 'NAME', value: ({ name }) => name, style: (text) => style(view, 'bold', text) },
        { header: 'SINCE', value: ({ created_at }) => created_at.slice(0, 10) },
        {
          header: 'TASKS',
          value: (batch) => `${countsText(batch)}${batch.closed_at === null ? '' : ', batch closed'}`,
          flexible: true,
          minimum: 24,
        },
      ],
      batches,
    );
  },
});
