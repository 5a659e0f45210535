import type { Cost, Report } from '#contract/report-operations.ts';
import { escapeLine } from '#kernel/text.ts';
import type { TextView } from './operation.ts';
import { style } from './style-text.ts';
import { tableText } from './table-text.ts';
import { truncateText, wrapWords } from './text-width.ts';

/** Counts first, then what landed, what did not and what helps, then what it cost. */
export function reportText(report: Report, view: TextView): string {
  const { landed, not_landed, warnings, suspended, cost, by_agent, by_task } = report;
  const parts = [
    countLines(report, view),
    landed.length === 0 ? undefined : section(view, 'Landed', landedTable(report, view)),
    not_landed.length === 0
      ? undefined
      : section(view, 'Not landed', not_landed.flatMap((one) => unlandedLines(one, view)).join('\n')),
    warnings.length === 0
      ? undefined
      : section(
          view,
          'Warnings',
          warnings
            .flatMap(({ task_id, agent, message, command }) => [
              `${style(view, 'bold', escapeLine(task_id))}  ${escapeLine(agent)}`,
              ...wrap(view, escapeLine(message)),
              `  try: ${escapeLine(command)}`,
            ])
            .join('\n'),
        ),
    suspended.length === 0
      ? undefined
      : section(
          view,
          'Suspended',
          suspended
            .flatMap((one) => [
              `${style(view, 'bold', escapeLine(one.agent))}  ${describeUntil(one.until, view.now)}`,
              ...wrap(view, escapeLine(one.reason)),
              `  try: ${escapeLine(one.command)}`,
            ])
            .join('\n'),
        ),
    cost.runs === 0
      ? undefined
      : section(
          view,
          'Cost',
          [
            costTable(
              by_agent.map((one) => ({ ...one, name: one.agent, about: '' })),
              'AGENT',
              view,
            ),
            '',
            costTable(
              by_task.map((one) => ({ ...one, name: one.task_id, about: one.title ?? '' })),
              'TASK',
              view,
            ),
          ].join('\n'),
        ),
  ];
  return parts.filter((part) => part !== undefined).join('\n\n');
}

function countLines({ since, until, landed, not_landed, suspended, cost }: Report, view: TextView): string {
  const waiting = not_landed.filter(({ kind }) => kind === 'waiting').length;
  const counts = [
    style(view, 'bold', `${landed.length} landed`),
    `${not_landed.length} did not`,
    ...(waiting === 0 ? [] : [`${waiting} for you: forge inbox`]),
    ...(suspended.length === 0
      ? []
      : [`${suspended.length} ${suspended.length === 1 ? 'agent' : 'agents'} suspended`]),
  ];
  const spent = [
    `${cost.runs} ${cost.runs === 1 ? 'run' : 'runs'}`,
    toDuration(cost.minutes),
    ...(toTokens(cost) === '-' ? [] : [`${toTokens(cost)} tokens`]),
    cost.usd === null ? 'cost unknown' : toMoney(cost),
  ];
  const head = `${toLocal(since)} to ${toLocal(until)}`;
  return [style(view, 'dim', head), counts.join(', '), ...(cost.runs === 0 ? [] : [spent.join(', ')])].join(
    '\n',
  );
}

function section(view: TextView, name: string, text: string): string {
  return `${style(view, 'bold', name)}\n${text}`;
}

function landedTable({ landed }: Report, view: TextView): string {
  return tableText(
    view,
    [
      { header: 'TASK', value: ({ task_id }) => task_id },
      { header: 'TITLE', value: ({ title }) => title ?? '(deleted)', flexible: 'first', minimum: 12 },
      { header: 'AGENT', value: ({ agent }) => agent ?? '-' },
      { header: 'MERGE', value: ({ merge_commit }) => (merge_commit ?? '-').slice(0, SHORT_COMMIT) },
      { header: 'WHEN', value: ({ at }) => toLocal(at) },
    ],
    landed,
  );
}

const SHORT_COMMIT = 10;

function unlandedLines(one: Report['not_landed'][number], view: TextView): string[] {
  const { task_id, title, state, agent, why, command } = one;
  const id = escapeLine(task_id);
  const where = [state, agent].flatMap((part) => part ?? []).join(', ');
  const about = `  ${escapeLine(title ?? '(deleted)')}${where === '' ? '' : `  [${escapeLine(where)}]`}`;
  return [
    `${style(view, 'bold', id)}${fit(view, about, id.length)}`,
    ...wrap(view, escapeLine(why)),
    `  try: ${escapeLine(command)}`,
  ];
}

/** A line that fits a terminal, after what stands before it; whole where there is no terminal. */
function fit({ columns }: TextView, text: string, before = 0): string {
  return Number.isFinite(columns) ? truncateText(text, Math.max(1, columns - before)) : text;
}

/** By words under what it belongs to: what to do about it often stands at the end. */
function wrap({ columns }: TextView, text: string): string[] {
  const all = wrapWords(text, { columns, indent: '  ' });
  const shown = all.slice(0, MOST_LINES);
  return (all.length > MOST_LINES ? shown.with(-1, `${shown.at(-1) ?? ''} …`) : shown).map((one) =>
    Number.isFinite(columns) ? truncateText(one, columns) : one,
  );
}

/** The rest is told by the command that stands below. */
const MOST_LINES = 4;

type CostRow = Cost & { readonly name: string; readonly about: string };

function costTable(rows: readonly CostRow[], header: string, view: TextView): string {
  return tableText(
    view,
    [
      { header, value: ({ name }) => name, flexible: true, minimum: 8 },
      ...(rows.some(({ about }) => about !== '')
        ? [{ header: 'TITLE', value: ({ about }: CostRow) => about, flexible: 'first' as const, minimum: 8 }]
        : []),
      { header: 'RUNS', value: ({ runs }) => String(runs), align: 'right' },
      { header: 'TIME', value: ({ minutes }) => toDuration(minutes), align: 'right' },
      { header: 'TOKENS', value: toTokens, align: 'right' },
      { header: 'COST', value: toMoney, align: 'right' },
    ],
    rows,
  );
}

/** `$1.25`, `about $1.25`, `$1.25 and 2 unknown`, `unknown` */
function toMoney({ usd, estimated, unknown, runs }: Cost): string {
  if (usd === null) return runs === 0 ? '$0.00' : 'unknown';
  const known = `${estimated ? 'about ' : ''}$${usd.toFixed(2)}`;
  return unknown === 0 ? known : `${known} and ${unknown} unknown`;
}

function toTokens({ input_tokens, output_tokens }: Cost): string {
  if (input_tokens === null && output_tokens === null) return '-';
  const all = (input_tokens ?? 0) + (output_tokens ?? 0);
  return all < 1_000
    ? String(all)
    : all < 1_000_000
      ? `${(all / 1_000).toFixed(1)}k`
      : `${(all / 1_000_000).toFixed(1)}M`;
}

function toDuration(minutes: number): string {
  if (minutes < 1) return `${Math.round(minutes * 60)} s`;
  const whole = Math.round(minutes);
  return whole < 60 ? `${whole} min` : `${Math.floor(whole / 60)} h ${whole % 60} min`;
}

/** `2026-03-01 08:30`, in the time of the person. */
function toLocal(iso: string): string {
  const date = new Date(iso);
  const two = (n: number): string => String(n).padStart(2, '0');
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

function describeUntil(until: string, now: number): string {
  return Date.parse(until) > now ? `until ${toLocal(until)}` : 'may be tried again';
}
