import { appendFileSync, readFileSync } from 'node:fs';
import { AGENTS, type TestedAgent } from './agents.ts';

/** What one agent made of one scenario. */
export interface ReportRow {
  readonly kind: TestedAgent['kind'];
  readonly title: string;
  /** As it was expected of this agent. */
  readonly passed: boolean;
  /** It can do what the title says; otherwise the note says what it does instead. */
  readonly can: boolean;
  readonly outcome: string;
  readonly exit_code: number | null;
  readonly seconds: number;
  readonly note?: string | undefined;
}

export interface ReportFacts {
  readonly date: string;
  readonly node: string;
  readonly machine: string;
  /** How the agents were kept from the network. */
  readonly network: string;
  readonly containment: string;
}

export function appendRow(path: string, row: ReportRow): void {
  appendFileSync(path, `${JSON.stringify(row)}\n`);
}

export function readRows(path: string): readonly ReportRow[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as ReportRow);
}

/** The page that a run of `npm run test:agents` writes. */
export function renderReport(rows: readonly ReportRow[], facts: ReportFacts): string {
  const titles = [...new Set(rows.map(({ title }) => title))];
  const kinds = AGENTS.map(({ kind }) => kind);
  const notes = rows.filter((row) => row.note !== undefined);
  const failed = rows.filter((row) => !row.passed);
  return [
    '# Real agent CLIs',
    '',
    '`npm run test:agents` writes this page. It installs the CLIs from the npm registry and runs each through its',
    'executor, with a scripted model on loopback in place of the provider; no key and no account is needed. What they',
    'said is kept in `tests/fixtures/agents`, and `npm test` plays it through the executors again.',
    '',
    `${facts.date}, Node ${facts.node}, ${facts.machine}. ${facts.network} Processes are held by ${facts.containment}.`,
    failed.length === 0
      ? `${rows.length} runs, all as expected.`
      : `${rows.length} runs, ${failed.length} not as expected.`,
    '',
    ...toTable(
      ['executor', 'CLI', 'package', 'version', 'protocol'],
      AGENTS.map((one) => [`\`${one.kind}\``, one.title, `\`${one.package}\``, one.version, one.protocol]),
    ),
    '',
    '## What each can do',
    '',
    'How the run ended, the exit code of the CLI, and the seconds from start to end. A number points to a remark below.',
    '',
    ...toTable(
      ['', ...AGENTS.map(({ title }) => title)],
      titles.map((title) => [
        title,
        ...kinds.map((kind) =>
          toCell(
            rows.find((row) => row.kind === kind && row.title === title),
            notes,
          ),
        ),
      ]),
    ),
    '',
    ...notes.map((row, index) => `${index + 1}. ${nameOf(row.kind)}, ${row.title}: ${row.note ?? ''}`),
    '',
  ].join('\n');
}

function toCell(row: ReportRow | undefined, notes: readonly ReportRow[]): string {
  if (row === undefined) return 'not tried';
  const said = row.passed ? (row.can ? 'yes' : 'no') : 'FAILED';
  const at = notes.indexOf(row);
  const exit = row.exit_code === null ? 'ended by a signal' : `exit ${row.exit_code}`;
  const mark = at < 0 ? '' : ` (${at + 1})`;
  return `${said}${mark}: ${row.outcome}, ${exit}, ${row.seconds.toFixed(1)} s`;
}

function nameOf(kind: string): string {
  return AGENTS.find((one) => one.kind === kind)?.title ?? kind;
}

function toTable(head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)];
}
