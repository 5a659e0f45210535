import { cpus, totalmem } from 'node:os';
import type { Result } from './measure.ts';

export function toTable(results: readonly Result[]): string {
  const widest = Math.max(0, ...results.map(({ what }) => what.length));
  return results
    .map((result) => `  ${result.what.padEnd(widest)}  ${verdict(result)}  (${result.figures})`)
    .join('\n');
}

const HEAD = [
  '# Benchmarks',
  '',
  '`npm run bench -- --write` measures and writes this page; with the names of parts, only those are written anew. Each',
  'figure is a ratio to a baseline measured in the same run, because absolute times say more about the machine than about',
  'Forge; the last column is for orientation. A figure that misses its budget is marked as missed.',
];
const FOOT = [
  '## How they are measured',
  '',
  'Cold starts are whole processes, run in turn with the baseline (medians of 40 rounds after two that warm the compile',
  'cache); peak memory is what the process itself reports at its end; claims are made by processes that start at the same',
  'moment, three times each, and the run fails unless every task was claimed exactly once; trees are cold processes too;',
  'exports, imports and the loops they are held against are processes of their own, timed without their start, three times',
  'in turn; commits are made in turn too. Of a rebuild the least of all rounds counts, of `ready`',
  'the median, in turn over the small and the large project. Starts of attempts are measured inside of one process, from the call that claims',
  'the task to the first line of its agent: the claim, the attempt and its ports, branch and checkout, the run and its log;',
  'in turn with `git worktree add` and the same program, and with `forge run` as a whole process,',
  'in memory: on a disk the files that the round before removed decide. Tasks to their merge are one `forge dispatch` and one shell script',
  'that starts the same agent and does the same git work, candidate and second check included; their CPU is that of all',
  'processes, without what the agents take by themselves. A server full of runs is a process of its own; its memory is',
  'looked at after a collection of garbage, and a lag begins when the request is sent. A forecast is a whole cold process.',
];

/** The page with these parts written anew, in this order; parts that were not measured stay as they were. */
export function toPage(
  before: string,
  names: readonly string[],
  measured: ReadonlyMap<string, readonly Result[]>,
): string {
  const kept = readSections(before);
  const sections = names.flatMap((name) => {
    const results = measured.get(name);
    return results === undefined ? (kept.get(name) ?? []) : [toSection(name, results)];
  });
  return [HEAD.join('\n'), ...sections, FOOT.join('\n')].join('\n\n') + '\n';
}

/** By the name of the part; what stands before the first one is left out. */
function readSections(page: string): Map<string, string> {
  const sections = page.split(/^(?=## )/m).filter((text) => text.startsWith('## '));
  return new Map(sections.map((text) => [/^## (.*)$/m.exec(text)?.[1] ?? '', text.trim()]));
}

function toSection(name: string, results: readonly Result[]): string {
  const rows = results.map(
    (result) =>
      `| ${result.what} | ${result.baseline} | ${toRatio(result)} | ${bound(result)} | ${result.figures} |`,
  );
  return [
    `## ${name}`,
    '',
    `Node ${process.versions.node}, SQLite ${process.versions.sqlite ?? ''}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GB of memory, ${process.platform} ${process.arch}.`,
    '',
    '| what | baseline | ratio | budget | figures |',
    '|---|---|---:|---:|---|',
    ...rows,
  ].join('\n');
}

function verdict(result: Result): string {
  return `${result.ratio.toFixed(2)} ${isWithin(result) ? 'within' : 'OVER'} ${bound(result)}`;
}

/** A figure that misses its budget says so where it is read. */
function toRatio(result: Result): string {
  const ratio = result.ratio.toFixed(2);
  return isWithin(result) ? ratio : `**${ratio}, missed**`;
}

export function isWithin({ ratio, budget, sense }: Result): boolean {
  return sense === 'at most' ? ratio <= budget : ratio >= budget;
}

function bound({ budget, sense }: Result): string {
  return `${sense === 'at most' ? '≤' : '≥'} ${budget}`;
}
