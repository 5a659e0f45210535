import { escapeLine } from '#kernel/text.ts';
import type { TextView } from './operation.ts';
import { style } from './style-text.ts';
import { textWidth, truncateText } from './text-width.ts';

export interface TableColumn<Row> {
  readonly header: string;
  /** Escaped by the table: no text of others can leave its cell. */
  readonly value: (row: Row) => string;
  readonly align?: 'left' | 'right';
  /** It may be cut to fit the terminal; `first` gives way before the others. */
  readonly flexible?: true | 'first';
  /** A flexible column keeps at least this much. */
  readonly minimum?: number;
  /** Colours for a cell that has its final text. */
  readonly style?: (text: string, row: Row) => string;
}

const GAP = '  ';
/** A column that must give way keeps at least this much, or it says nothing any more. */
const NARROWEST = 8;

/**
 * Rows as aligned columns under a header, without the last newline; the widest flexible columns are cut until a line
 * fits `view.columns`. Without a terminal (`view.columns` is infinite) the bare cells, separated by tabs.
 */
export function tableText<Row>(
  view: TextView,
  columns: readonly TableColumn<Row>[],
  rows: readonly Row[],
): string {
  const cells = rows.map((row) => columns.map((column) => escapeLine(column.value(row))));
  // Nobody looks at a pipe: one line a row, and a program can cut it at the tabs.
  if (!Number.isFinite(view.columns) && !view.color) return cells.map((line) => line.join('\t')).join('\n');
  const widths = columns.map((column, at) => Math.max(textWidth(column.header), widestOf(cells, at)));
  fitWidths(widths, columns, view.columns);
  const head = columns.map((column, at) => ({ column, text: column.header, width: widths[at] ?? 0 }));
  const lines = rows.map((row, line) =>
    toLine(
      columns.map((column, at) => {
        const width = widths[at] ?? 0;
        const text = truncateText(cells[line]?.[at] ?? '', width);
        return { column, text, width, shown: column.style?.(text, row) };
      }),
    ),
  );
  return [style(view, 'dim', toLine(head)), ...lines].join('\n');
}

interface Cell {
  readonly column: Pick<TableColumn<never>, 'align'>;
  readonly text: string;
  readonly width: number;
  readonly shown?: string | undefined;
}

/** Padding goes around the colours, and never stands at the end of a line. */
function toLine(cells: readonly Cell[]): string {
  return cells
    .map(({ column, text, width, shown }, at) => {
      const padding = ' '.repeat(Math.max(0, width - textWidth(text)));
      if (column.align === 'right') return padding + (shown ?? text);
      return at === cells.length - 1 ? (shown ?? text) : (shown ?? text) + padding;
    })
    .join(GAP)
    .trimEnd();
}

/** One at a time in a loop: a spread of a million rows would not fit the stack. */
function widestOf(cells: readonly (readonly string[])[], at: number): number {
  let widest = 0;
  for (const line of cells) widest = Math.max(widest, textWidth(line[at] ?? ''));
  return widest;
}

type Flexibility = Pick<TableColumn<never>, 'flexible' | 'minimum'>;

function fitWidths(widths: number[], columns: readonly Flexibility[], limit: number): void {
  narrow(widths, columns, { limit, which: 'first' });
  narrow(widths, columns, { limit, which: true });
}

function narrow(
  widths: number[],
  columns: readonly Flexibility[],
  { limit, which }: { readonly limit: number; readonly which: true | 'first' },
): void {
  const total = (): number => widths.reduce((sum, width) => sum + width, GAP.length * (widths.length - 1));
  const floor = (at: number): number => columns[at]?.minimum ?? NARROWEST;
  for (let over = total() - limit; over > 0; over = total() - limit) {
    const flexible = columns
      .flatMap((column, at) => (column.flexible === which ? [at] : []))
      .filter((at) => (widths[at] ?? 0) > floor(at));
    const [first, second] = flexible.map((at) => widths[at] ?? 0).toSorted((a, b) => b - a);
    if (first === undefined) return;
    // The widest gives way down to the second widest; equals give way together, a cell at a time.
    const give =
      second !== undefined && second < first ? Math.min(over, first - second) : second === first ? 1 : over;
    const widest = flexible.find((at) => widths[at] === first) ?? 0;
    widths[widest] = Math.max(floor(widest), first - give);
  }
}
