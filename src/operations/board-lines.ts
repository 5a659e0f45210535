import { escapeLine } from '#kernel/text.ts';
import { SHORT_ID } from './run-text.ts';
import { style, type TextFormat } from './style-text.ts';
import { textWidth, truncateText, wrapText } from './text-width.ts';
import {
  addSpent,
  isGood,
  sumUsage,
  type BoardRow,
  type Spent,
  type Stage,
  type WorkBoard,
} from './work-board.ts';

/** The part of a terminal that is drawn over itself. */
export interface BoardView {
  readonly columns: number;
  readonly rows: number;
  readonly color: boolean;
  readonly now: number;
}

/** Lines of what was there before that stay in sight. */
const LEFT_ALONE = 3;

/** One line for each task at work, or for each attempt at it, and the sum; none takes more cells than there are columns. */
export function boardLines(board: WorkBoard, view: BoardView): string[] {
  const rows = [...board.rows.values()].toSorted((a, b) => rank(a) - rank(b));
  const room = Math.max(1, view.rows - LEFT_ALONE - 1);
  const requests = new Map(rows.map((row) => [row, requestLines(row, view)]));
  const shown = fitRows(rows, (row) => 1 + (requests.get(row)?.length ?? 0), room);
  const widths = toWidths(shown, view);
  const more =
    shown.length < rows.length
      ? [style(view, 'dim', cut(`… and ${rows.length - shown.length} more`, view))]
      : [];
  return [
    ...shown.flatMap((row) => [rowLine(row, widths, view), ...(requests.get(row) ?? [])]),
    ...more,
    style(view, 'bold', cut(sumLine(board, view.now), view)),
  ];
}

/** A person has to judge all of what is asked for: it is wrapped and not cut, unless it is longer than the terminal. */
function requestLines({ request, stage }: BoardRow, view: BoardView): string[] {
  if (request === undefined || stage !== 'asking') return [];
  const lines = wrapText(escapeLine(request), Math.max(1, view.columns - GAP.length));
  const room = Math.max(1, view.rows - LEFT_ALONE - 3);
  const fitting = lines.length > room ? [...lines.slice(0, room - 1), '… (forge inbox)'] : lines;
  return fitting.map((line) => style(view, 'bold', cut(`${GAP}${line}`, view)));
}

/** As many as there is room for; where some are left out, one line says so. */
function fitRows(
  rows: readonly BoardRow[],
  heightOf: (row: BoardRow) => number,
  room: number,
): readonly BoardRow[] {
  const total = rows.reduce((sum, row) => sum + heightOf(row), 0);
  if (total <= room) return rows;
  let height = 1;
  return rows.filter((row) => {
    height += heightOf(row);
    return height <= room;
  });
}

/** A row that is over, as it stays in the terminal's history. */
export function endedLine(row: BoardRow): string {
  const { agent, title, line, stage } = row;
  const spent = describeSpent(sumUsage(row));
  const facts = [agent, toTime(row.heard_at - row.since), spent].filter((text) => text !== '').join(', ');
  const why = isGood(stage) || stage === 'archived' || line === '' ? '' : `: ${line}`;
  return escapeLine(`${toLabel(row)}  ${stage} (${facts})  ${title}${why}`);
}

/** `fg-a3f8`; `fg-a3f8 #2` where several attempts at it have a line each. */
function toLabel({ id, number, is_side, attempt_id = '' }: BoardRow): string {
  return is_side === true ? `${id} #${number ?? attempt_id.slice(0, SHORT_ID)}` : id;
}

/** What one command did, when it has ended. */
export function sumLine({ began, rows, ended, spent }: WorkBoard, now: number): string {
  const sum = { ...spent };
  for (const row of rows.values()) addSpent(sum, sumUsage(row));
  const working = new Set([...rows.values()].map(({ id }) => id));
  const over = [...ended].filter(([id]) => !working.has(id));
  const good = over.filter(([, stage]) => isGood(stage)).length;
  return [
    ...(working.size > 0 ? [`${working.size} at work`] : []),
    ...(good > 0 ? [`${good} done`] : []),
    ...(over.length > good ? [`${over.length - good} not done`] : []),
    toTime(now - began),
    ...[describeSpent(sum)].filter((text) => text !== ''),
  ].join(', ');
}

/** Somebody has to answer those that ask, so they are never folded away. */
function rank({ stage }: BoardRow): number {
  return stage === 'asking' ? 0 : 1;
}

interface Widths {
  readonly id: number;
  readonly agent: number;
  readonly spent: number;
  readonly title: number;
}

const GAP = '  ';
const STAGE_WIDTH = 8;
const TIME_WIDTH = 7;
const WIDEST_AGENT = 14;
const WIDEST_TITLE = 40;
/** Narrower than this a terminal shows no agent and no cost. */
const NARROW = 60;

function toWidths(rows: readonly BoardRow[], { columns }: BoardView): Widths {
  const widest = (texts: readonly string[]): number => Math.max(0, ...texts.map(textWidth));
  const id = widest(rows.map((row) => escapeLine(toLabel(row))));
  const isNarrow = columns < NARROW;
  const agent = isNarrow ? 0 : Math.min(WIDEST_AGENT, widest(rows.map((row) => escapeLine(row.agent))));
  const spent = isNarrow ? 0 : widest(rows.map((row) => describeSpent(sumUsage(row))));
  const taken = [id, STAGE_WIDTH, agent, TIME_WIDTH, spent].filter((width) => width > 0);
  const rest = columns - taken.reduce((sum, width) => sum + width + GAP.length, 0);
  const title = Math.min(
    WIDEST_TITLE,
    Math.floor(rest / 2),
    widest(rows.map((row) => escapeLine(row.title))),
  );
  return { id, agent, spent, title: Math.max(0, title) };
}

/** The plain cells are fitted first: a colour takes no room, and must not be cut in two. */
function rowLine(row: BoardRow, widths: Widths, view: BoardView): string {
  const cells: { text: string; format?: TextFormat }[] = [
    { text: pad(escapeLine(toLabel(row)), widths.id), format: 'bold' },
    { text: pad(row.stage, STAGE_WIDTH), format: STAGE_FORMATS[row.stage] },
    ...(widths.agent > 0 ? [{ text: pad(escapeLine(row.agent), widths.agent) }] : []),
    { text: toTime(view.now - row.since).padStart(TIME_WIDTH) },
    ...(widths.spent > 0 ? [{ text: describeSpent(sumUsage(row)).padStart(widths.spent) }] : []),
    { text: pad(escapeLine(row.title), widths.title) },
    { text: escapeLine(row.line), format: 'dim' },
  ];
  let rest = view.columns;
  const fitted = cells.map(({ text, format }, at) => {
    const cell = truncateText(at === 0 ? text : GAP + text, rest);
    rest -= textWidth(cell);
    return format === undefined ? cell : style(view, format, cell);
  });
  return fitted.join('').trimEnd();
}

const STAGE_FORMATS: Readonly<Record<Stage, TextFormat>> = {
  starting: 'dim',
  working: 'cyan',
  asking: 'magenta',
  done: 'green',
  checking: 'yellow',
  passed: 'green',
  queued: 'yellow',
  merging: 'yellow',
  merged: 'green',
  failed: 'red',
  stopped: 'red',
  archived: 'dim',
};

function pad(text: string, width: number): string {
  const fitted = truncateText(text, width);
  return fitted + ' '.repeat(Math.max(0, width - textWidth(fitted)));
}

function cut(text: string, { columns }: BoardView): string {
  return truncateText(text, columns);
}

/** `4s`, `1:04`, `2:00:04`. */
export function toTime(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (seconds < 60) return `${seconds}s`;
  const two = (count: number): string => String(count).padStart(2, '0');
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

/** `12.3k tok $0.04`, `~$0.04` by a table of prices, `cost unknown`; nothing where no program said. */
function describeSpent({ tokens, cost_usd, estimated, unknown }: Spent): string {
  const usd = `${estimated ? '~' : ''}$${cost_usd.toFixed(2)}`;
  return [
    ...(tokens > 0 ? [`${tokens < 1_000 ? tokens : `${(tokens / 1_000).toFixed(1)}k`} tok`] : []),
    ...(cost_usd > 0 ? [usd] : []),
    ...(unknown ? [cost_usd > 0 ? '+ unknown' : 'cost unknown'] : []),
  ].join(' ');
}
