import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
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
import { findNearestTests, type SourceFile } from './mutants/nearest-tests.ts';

/*
 * npm run mutants -- --room domain --count 300 --seed 1
 *
 * Makes small changes in the files of a room, one at a time, in a copy of the repository, and runs the nearest tests.
 * A change that no test notices is listed, unless tests/mutants.json says why it does not matter. Exit 1 where one is
 * left without an answer.
 */

const ROOT = resolve(import.meta.dirname, '..');
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

/** Tests that pass without a mutant, in the order in which they are tried: most mutants die by the quick ones. */
type Baseline = readonly Stage[];

interface Stage {
  readonly tests: readonly string[];
  readonly took_ms: number;
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

const counts = { killed: 0, untested: 0, answered: 0, survived: 0 };
const left: Placed[] = [];
const baselines = new Map<string, Baseline | undefined>();
for (const [at, mutant] of picked.entries()) {
  const end = await tryMutant(mutant);
  if ((at + 1) % 25 === 0) console.log(`${at + 1} of ${picked.length} tried, ${counts.killed} killed`);
  counts[end] += 1;
  if (end === 'survived' || end === 'untested') left.push(mutant);
  if (end !== 'killed') console.log(`${end}  ${describe(mutant)}`);
}
console.log(
  `${counts.killed} killed, ${counts.answered} answered in tests/mutants.json, ${counts.survived} survived, ${counts.untested} in files that no test imports`,
);
process.exitCode = left.length === 0 ? 0 : 1;

async function tryMutant(mutant: Placed): Promise<keyof typeof counts> {
  const { path } = mutant;
  if (!baselines.has(path)) baselines.set(path, await measureBaseline(path));
  const baseline = baselines.get(path);
  if (baseline === undefined) return 'untested';
  const source = textOf(path);
  writeFileSync(join(copy, path), applyMutant(source, mutant));
  let passed = true;
  for (const { tests, took_ms } of baseline)
    passed &&= await runTests(tests, Math.ceil(took_ms * 3) + 20_000);
  writeFileSync(join(copy, path), source);
  if (!passed) return 'killed';
  return isAnswered(mutant) ? 'answered' : 'survived';
}

/** The nearest tests that pass on the unchanged file, and how long they take; others could kill nothing. */
async function measureBaseline(path: string): Promise<Baseline | undefined> {
  const nearest = findNearestTests(path, files);
  const isQuick = (test: string): boolean => !/\.(?:git|e2e)\.test\.ts$/.test(test);
  const stages = [nearest.filter(isQuick), nearest.filter((test) => !isQuick(test))];
  const found: Stage[] = [];
  for (const tests of stages) {
    const stage = await measureStage(tests);
    if (stage !== undefined) found.push(stage);
  }
  return found.length === 0 ? undefined : found;
}

async function measureStage(nearest: readonly string[]): Promise<Stage | undefined> {
  const whole = await timeTests(nearest);
  if (whole !== undefined) return { tests: nearest, took_ms: whole };
  const tests: string[] = [];
  for (const test of nearest) if ((await timeTests([test])) !== undefined) tests.push(test);
  const left = nearest.filter((test) => !tests.includes(test));
  if (left.length > 0) console.log(`left out, because they fail without a mutant: ${left.join(' ')}`);
  const took_ms = await timeTests(tests);
  return took_ms === undefined ? undefined : { tests, took_ms };
}

async function timeTests(tests: readonly string[]): Promise<number | undefined> {
  if (tests.length === 0) return undefined;
  const begun = performance.now();
  return (await runTests(tests, 600_000)) ? performance.now() - begun : undefined;
}

/** A mutant that hangs is noticed too. */
async function runTests(tests: readonly string[], timeout: number): Promise<boolean> {
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const project = /\.(git|e2e)\.test\.ts$/.exec(tests[0] ?? '')?.[1] ?? 'unit';
  const projects = project === 'unit' ? ['--project', 'unit'] : ['--project', 'git', '--project', 'e2e'];
  const args = [vitest, 'run', '--bail', '1', ...projects, ...tests];
  const child = spawn(process.execPath, args, { cwd: copy, timeout, killSignal: 'SIGKILL', stdio: 'ignore' });
  const [code] = (await once(child, 'close')) as [number | null];
  return code === 0;
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
