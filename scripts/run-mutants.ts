import { spawnSync } from 'node:child_process';
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
import { chooseSources } from './mutants/choose-sources.ts';
import { applyMutant, findMutants, pickSome } from './mutants/find-mutants.ts';
import { keepRun } from './mutants/keep-run.ts';
import { digest, openVerdicts, type PlacedMutant, type Verdict } from './mutants/keep-verdicts.ts';
import { joinReach, listReaching, measureReach, type Reach } from './mutants/measure-reach.ts';
import { listImporters, listTestsOf, type SourceFile } from './mutants/nearest-tests.ts';
import { readCases, runVitest, type TestCase } from './mutants/run-cases.ts';
import { readCommit } from './read-commit.ts';

/*
 * npm run mutants -- --room domain --files 'decide-*,find-wait' --count 300 --seed 1 --from 1 --to 300
 *
 * Makes small changes in the files of a room, one at a time, in a copy of the repository, and runs the test cases that
 * come to the changed statement, the quick ones first. A change that no test notices is listed, unless
 * tests/mutants.json says why it does not matter. Exit 1 where one is left without an answer.
 *
 * What was measured and found is kept in the temporary folder. The same command goes on where it was stopped; after a
 * change of tests only those tests are measured again, and only what they may decide is tried again. A change of a source
 * voids all of it. `--files` takes only some files of the room, by their names; `--from` and `--to` choose a part of the
 * mutants, in the order of the paths. How a whole run ended is written to tests/mutant-runs.json.
 */

const ROOT = resolve(import.meta.dirname, '..');
/**
 * What is run for one mutant at most: first a few cases of some files, then, where these have noticed nothing, more of the
 * files that import the source, and of others.
 */
const ROUNDS = [
  { files: 8, cases: 250, ms: 20_000, is_wide: true },
  { files: 40, cases: 250, ms: 90_000, is_wide: false },
] as const;
const ANSWERS = join(ROOT, 'tests/mutants.json');
const RUNS = join(ROOT, 'tests/mutant-runs.json');

const { values } = parseArgs({
  options: {
    room: { type: 'string', default: 'domain' },
    files: { type: 'string' },
    count: { type: 'string', default: '300' },
    seed: { type: 'string', default: '1' },
    from: { type: 'string', default: '1' },
    to: { type: 'string' },
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

interface KeptReach {
  /** Of each test file that was measured. */
  readonly digests: Readonly<Record<string, string>>;
  readonly reach: Reach;
}

const files = listFiles();
const answers = existsSync(ANSWERS) ? (JSON.parse(readFileSync(ANSWERS, 'utf8')) as readonly Answer[]) : [];
const copy = makeCopy();
process.on('exit', () => rmSync(copy, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130));

const room = `src/${values.room}/`;
const sources = chooseSources(files, room, values.files);
const all: PlacedMutant[] = sources.flatMap(({ path, text }) =>
  findMutants(text).map((mutant) => ({ ...mutant, path })),
);
const picked = pickSome(all, Number(values.count), Number(values.seed))
  .toSorted((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : a.start - b.start))
  .slice(Number(values.from) - 1, values.to === undefined ? undefined : Number(values.to));
console.log(
  `${all.length} mutants of ${sources.length} files in ${room}; ${picked.length} are tried (seed ${values.seed})`,
);

const near = new Set(
  listTestsOf(
    sources.map(({ path }) => path),
    files,
  ),
);
const tests = files.filter(({ path }) => near.has(path));
/** What is kept counts for one state of everything that is no test case, and for the files that were chosen. */
const state = [...files.filter(({ path }) => !path.endsWith('.test.ts')), ...sources];
const kept = join(tmpdir(), `forge-mutants-${values.room}-${digest(state)}`);
const reach = await getReach();
const verdicts = openVerdicts(`${kept}.verdicts`, tests);
console.log(`${reach.cases.length} cases can notice a mutant`);
/** Cases that fail, or pass, alone without a mutant. */
const failing = new Set<TestCase>();
const passing = new Set<TestCase>();
const counts = { killed: 0, untested: 0, answered: 0, survived: 0 };
const left: PlacedMutant[] = [];
for (const [at, mutant] of picked.entries()) {
  const verdict = verdicts.find(mutant) ?? (await tryMutant(mutant));
  const end = verdict !== 'killed' && isAnswered(mutant) ? 'answered' : verdict;
  counts[end] += 1;
  if ((at + 1) % 25 === 0) console.log(`${at + 1} of ${picked.length} tried, ${counts.killed} killed`);
  if (end === 'survived' || end === 'untested') left.push(mutant);
  if (end !== 'killed') console.log(`${end}  ${describe(mutant)}`);
}
console.log(
  `${counts.killed} killed, ${counts.answered} answered in tests/mutants.json, ${counts.survived} survived, ${counts.untested} that no test comes to`,
);
const isWhole = values.files === undefined && values.from === '1' && values.to === undefined;
if (isWhole)
  keepRun(RUNS, {
    room: values.room,
    seed: Number(values.seed),
    tried: picked.length,
    killed: counts.killed,
    answered: counts.answered,
    left: left.length,
    at: new Date().toISOString(),
    commit: readCommit(),
  });
process.exitCode = left.length === 0 ? 0 : 1;

async function tryMutant(mutant: PlacedMutant): Promise<Verdict> {
  const { path, start } = mutant;
  const text = textOf(path);
  let rest = listReaching(reach, { path, text }, start).filter((one) => !failing.has(one));
  if (rest.length === 0) return keep(mutant, 'untested');
  for (const most of ROUNDS) {
    const chosen = choose(path, rest, most);
    rest = rest.filter((one) => !chosen.includes(one));
    writeFileSync(join(copy, path), applyMutant(text, mutant));
    const { passed, failed } = await runCases(chosen);
    writeFileSync(join(copy, path), text);
    if (!passed) return judgeFailed(mutant, chosen, failed);
  }
  return keep(mutant, 'survived');
}

async function judgeFailed(
  mutant: PlacedMutant,
  chosen: readonly TestCase[],
  failed: readonly TestCase[],
): Promise<Verdict> {
  // A case that needs those before it fails alone, mutant or not.
  const wrong = await findFailingAlone(failed);
  if (wrong === undefined) return keep(mutant, 'killed', failed.length > 0 ? failed : chosen);
  failing.add(wrong);
  console.log(`left out, because it does not pass alone: ${wrong.path}: ${wrong.name}`);
  return tryMutant(mutant);
}

function keep(mutant: PlacedMutant, verdict: Verdict, noticed: readonly TestCase[] = []): Verdict {
  verdicts.add(
    mutant,
    verdict,
    noticed.map(({ path }) => path),
  );
  return verdict;
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
 * The quick tests of the file's own name, all of them; then one case of each other test file, then the next one of each,
 * as long as they do not take too long together: a file with hundreds of quick cases must not be all that is run. Where
 * the choice is not wide, the tests that import the source come before the others with all their cases.
 */
function choose(
  source: string,
  cases: readonly TestCase[],
  most: (typeof ROUNDS)[number],
): readonly TestCase[] {
  const stem = `${source.replace(/\.ts$/, '')}.`;
  const importers = new Set(listImporters(source, tests).map(({ path }) => path));
  const rank = (path: string): number => (path.startsWith(stem) ? 0 : importers.has(path) ? 1 : 2);
  const isFirst = (path: string): boolean => path === `${stem}test.ts` || (!most.is_wide && rank(path) < 2);
  let [count, took] = [0, 0];
  return [...Map.groupBy(cases, ({ path }) => path)]
    .toSorted(([a], [b]) => rank(a) - rank(b))
    .slice(0, most.files)
    .flatMap(([path, own]) => own.map((one, round) => ({ one, round: isFirst(path) ? 0 : round })))
    .toSorted((a, b) => a.round - b.round)
    .map(({ one }) => one)
    .filter(({ took_ms }) => {
      if (count > 0 && (count >= most.cases || took + took_ms > most.ms)) return false;
      count += 1;
      took += took_ms;
      return true;
    });
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

/** Measured once for each state of the sources and of each test file. */
async function getReach(): Promise<Reach> {
  const path = `${kept}.reach`;
  const before: KeptReach = existsSync(path)
    ? (JSON.parse(readFileSync(path, 'utf8')) as KeptReach)
    : { digests: {}, reach: { cases: [], reached: {} } };
  const digests = Object.fromEntries(tests.map((test) => [test.path, digest([test])]));
  const changed = tests.map((test) => test.path).filter((one) => before.digests[one] !== digests[one]);
  if (changed.length > 0)
    console.log(`${changed.length} test files are run once, to see which case comes to which statement`);
  const measured =
    changed.length > 0 ? await measureReach(copy, sources, changed) : { cases: [], reached: {} };
  const unchanged = tests.map((test) => test.path).filter((one) => !changed.includes(one));
  const reach = joinReach(before.reach, measured, unchanged);
  writeFileSync(path, JSON.stringify({ digests, reach } satisfies KeptReach));
  return reach;
}

function isAnswered(mutant: PlacedMutant): boolean {
  const { path, from, to } = mutant;
  const line = lineOf(mutant);
  return answers.some((one) => one.path === path && one.line === line && one.from === from && one.to === to);
}

function describe(mutant: PlacedMutant): string {
  const { path, line, kind, from, to } = mutant;
  return `${path}:${line} ${kind}: ${JSON.stringify(from)} -> ${JSON.stringify(to)} in ${JSON.stringify(lineOf(mutant))}`;
}

function lineOf({ path, line }: PlacedMutant): string {
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
