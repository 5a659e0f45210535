import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { applyMutant, findMutants, type Mutant, pickSome } from './mutants/find-mutants.ts';
import { listReaching, measureReach, type Reach } from './mutants/measure-reach.ts';
import { listTestsOf, type SourceFile } from './mutants/nearest-tests.ts';
import { readCases, runVitest, type TestCase } from './mutants/run-cases.ts';

/*
 * npm run mutants -- --room domain --count 300 --seed 1
 *
 * Makes small changes in the files of a room, one at a time, in a copy of the repository, and runs the test cases that
 * come to the changed statement, the quick ones first. A change that no test notices is listed, unless tests/mutants.json says why it does not matter. Exit 1 where one is
 * left without an answer.
 */

const ROOT = resolve(import.meta.dirname, '..');
/** What is run for one mutant at most. */
const MOST_FILES = 8;
const MOST_CASES = 60;
const MOST_MS = 20_000;
const ANSWERS = join(ROOT, 'tests/mutants.json');

const { values } = parseArgs({
  options: {
    room: { type: 'string', default: 'domain' },
    count: { type: 'string', default: '300' },
    seed: { type: 'string', default: '1' },
  },
});

/** Why a mutant that no test notices does not matter. */
interface Answer {
  readonly path: string;
  /** The line it is in, without blanks around it. */
  readonly line: string;
  readonly from: string;
  readonly to: string;
  readonly reason: string;
}

interface Placed extends Mutant {
  readonly path: string;
}

const files = listFiles();
const answers = existsSync(ANSWERS) ? (JSON.parse(readFileSync(ANSWERS, 'utf8')) as readonly Answer[]) : [];
const copy = makeCopy();
process.on('exit', () => rmSync(copy, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130));

const room = `src/${values.room}/`;
const sources = files.filter(
  ({ path }) => path.startsWith(room) && !/\.(?:test|generated)\.ts$|-behaviour\.ts$/.test(path),
);
const all: Placed[] = sources.flatMap(({ path, text }) =>
  findMutants(text).map((mutant) => ({ ...mutant, path })),
);
const picked = pickSome(all, Number(values.count), Number(values.seed)).toSorted((a, b) =>
  a.path < b.path ? -1 : a.path > b.path ? 1 : a.start - b.start,
);
console.log(
  `${all.length} mutants of ${sources.length} files in ${room}; ${picked.length} are tried (seed ${values.seed})`,
);

const reach = await getReach();
console.log(`${reach.cases.length} cases can notice a mutant`);
/** Cases that fail, or pass, alone without a mutant. */
const failing = new Set<TestCase>();
const passing = new Set<TestCase>();
const counts = { killed: 0, untested: 0, answered: 0, survived: 0 };
const left: Placed[] = [];
for (const [at, mutant] of picked.entries()) {
  const end = await tryMutant(mutant);
  counts[end] += 1;
  if ((at + 1) % 25 === 0) console.log(`${at + 1} of ${picked.length} tried, ${counts.killed} killed`);
  if (end === 'survived' || end === 'untested') left.push(mutant);
  if (end !== 'killed') console.log(`${end}  ${describe(mutant)}`);
}
console.log(
  `${counts.killed} killed, ${counts.answered} answered in tests/mutants.json, ${counts.survived} survived, ${counts.untested} that no test comes to`,
);
process.exitCode = left.length === 0 ? 0 : 1;

async function tryMutant(mutant: Placed): Promise<keyof typeof counts> {
  const { path, start } = mutant;
  const text = textOf(path);
  const chosen = choose(
    path,
    listReaching(reach, { path, text }, start).filter((one) => !failing.has(one)),
  );
  if (chosen.length === 0) return isAnswered(mutant) ? 'answered' : 'untested';
  writeFileSync(join(copy, path), applyMutant(text, mutant));
  const { passed, failed } = await runCases(chosen);
  writeFileSync(join(copy, path), text);
  if (passed) return isAnswered(mutant) ? 'answered' : 'survived';
  // A case that needs those before it fails alone, mutant or not.
  const wrong = await findFailingAlone(failed);
  if (wrong === undefined) return 'killed';
  failing.add(wrong);
  console.log(`left out, because it does not pass alone: ${wrong.path}: ${wrong.name}`);
  return tryMutant(mutant);
}

async function findFailingAlone(failed: readonly TestCase[]): Promise<TestCase | undefined> {
  for (const one of failed) {
    if (passing.has(one)) continue;
    if (!(await runCases([one])).passed) return one;
    passing.add(one);
  }
  return undefined;
}

/**
 * One case of each test file, then the next one of each, as long as they do not take too long together: a file with
 * hundreds of quick cases must not be all that is run. The tests of the file's own name come first, then the quick ones.
 */
function choose(source: string, cases: readonly TestCase[]): readonly TestCase[] {
  const stem = `${source.replace(/\.ts$/, '')}.`;
  const tests = [...Map.groupBy(cases, ({ path }) => path)]
    .toSorted(([a], [b]) => Number(b.startsWith(stem)) - Number(a.startsWith(stem)))
    .slice(0, MOST_FILES);
  let took = 0;
  return tests
    .flatMap(([, own]) => own.map((one, round) => ({ one, round })))
    .toSorted((a, b) => a.round - b.round)
    .map(({ one }) => one)
    .filter(({ took_ms }, at) => at === 0 || (at < MOST_CASES && (took += took_ms) <= MOST_MS));
}

/** A mutant that hangs is noticed too. */
async function runCases(
  cases: readonly TestCase[],
): Promise<{ readonly passed: boolean; readonly failed: readonly TestCase[] }> {
  const isQuick = ({ path }: TestCase): boolean => !/\.(?:git|e2e)\.test\.ts$/.test(path);
  const report = join(copy, '.report.json');
  for (const stage of [cases.filter(isQuick), cases.filter((one) => !isQuick(one))]) {
    if (stage.length === 0) continue;
    const took = stage.reduce((sum, { took_ms }) => sum + took_ms, 0);
    const tests = [...new Set(stage.map(({ path }) => path))];
    const names = stage.map(({ name }) => name);
    const isPassed = await runVitest({ copy, tests, names, report, timeout_ms: took * 3 + 60_000 });
    const ran = readCases(copy, report);
    const endOf = ({ path, name }: TestCase): boolean | undefined =>
      ran.find((one) => one.path === path && one.name === name)?.passed;
    if (!isPassed) return { passed: false, failed: stage.filter((one) => endOf(one) === false) };
    // A case that was left out has said nothing: it must not count as one that noticed nothing.
    const silent = stage.filter((one) => endOf(one) !== true);
    if (silent.length > 0) return { passed: false, failed: silent };
  }
  return { passed: true, failed: [] };
}

/** Measured once for each state of the files. */
async function getReach(): Promise<Reach> {
  const hash = createHash('sha256')
    .update(JSON.stringify([room, files]))
    .digest('hex')
    .slice(0, 16);
  const kept = join(tmpdir(), `forge-reach-${hash}.json`);
  if (existsSync(kept)) return JSON.parse(readFileSync(kept, 'utf8')) as Reach;
  const tests = listTestsOf(
    sources.map(({ path }) => path),
    files,
  );
  console.log(`${tests.length} test files are run once, to see which case comes to which statement`);
  const measured = await measureReach(copy, sources, tests);
  writeFileSync(kept, JSON.stringify(measured));
  return measured;
}

function isAnswered(mutant: Placed): boolean {
  const { path, from, to } = mutant;
  const line = lineOf(mutant);
  return answers.some((one) => one.path === path && one.line === line && one.from === from && one.to === to);
}

function describe(mutant: Placed): string {
  const { path, line, kind, from, to } = mutant;
  return `${path}:${line} ${kind}: ${JSON.stringify(from)} -> ${JSON.stringify(to)} in ${JSON.stringify(lineOf(mutant))}`;
}

function lineOf({ path, line }: Placed): string {
  return textOf(path).split('\n')[line - 1]?.trim() ?? '';
}

function textOf(path: string): string {
  return files.find((file) => file.path === path)?.text ?? '';
}

function listFiles(): readonly SourceFile[] {
  const sources = listPaths().filter((path) => path.endsWith('.ts'));
  return sources.map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));
}

/** As they are on the disk, committed or not. */
function listPaths(): readonly string[] {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const { stdout } = spawnSync('git', args, { cwd: ROOT, maxBuffer: 1 << 26, encoding: 'utf8' });
  const paths = stdout.split('\0').slice(0, -1);
  return paths.filter((path) => existsSync(join(ROOT, path)));
}

function makeCopy(): string {
  const folder = mkdtempSync(join(tmpdir(), 'forge-mutants-'));
  for (const path of listPaths()) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    cpSync(join(ROOT, path), join(folder, path));
  }
  if (existsSync(join(ROOT, 'dist'))) cpSync(join(ROOT, 'dist'), join(folder, 'dist'), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}
