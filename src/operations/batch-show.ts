import type { OutputOf } from '#contract/declare.ts';
import type { showBatch as declaration } from '#contract/home-operations.ts';
import { escapeLine } from '#kernel/text.ts';
import { getBatch } from '#sync/batches.ts';
import { implement } from './operation.ts';
import { countsText, readBatch } from './read-batch.ts';
import { style, styleStatus } from './style-text.ts';
import { tableText } from './table-text.ts';

type Row = OutputOf<typeof declaration>['tasks'][number];

export const batchShow = implement<typeof declaration>({
  run: (ctx, input) => readBatch(ctx, getBatch(ctx.place.home, input.name)),
  text(batch, view) {
    const closed = batch.closed_at === null ? '' : `, closed ${batch.closed_at}`;
    const heading = `${style(view, 'bold', escapeLine(batch.name))}  ${countsText(batch)}${closed}`;
    if (batch.tasks.length === 0)
      return `${heading}\n\nAdd tasks: forge batch add ${escapeLine(JSON.stringify(batch.name))} <ids...>`;
    const table = tableText<Row>(
      view,
      [
        { header: 'ID', value: ({ id }) => id, style: (text) => style(view, 'bold', text) },
        { header: 'PROJECT', value: ({ project }) => project, flexible: 'first' },
        {
          header: 'STATUS',
          value: ({ status }) => status ?? 'missing',
          style: (text, { status }) =>
            status === null ? style(view, 'red', text) : styleStatus(view, status, text),
        },
        { header: 'OWNER', value: ({ assignee }) => assignee ?? '-', flexible: 'first' },
        {
          header: 'TITLE',
          value: ({ title, problem }) => title ?? `(${problem ?? ''})`,
          flexible: true,
          minimum: 24,
        },
      ],
      batch.tasks,
    );
    return `${heading}\n\n${table}`;
  },
});
