import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { claimRecord, editRecord } from '#domain/task-changes.ts';
import type { TaskRecord } from '#domain/task-record.ts';
import { systemClock } from '#kernel/clock.ts';
import { openStore } from '#store/open-store.ts';
import { locationOf } from '#store/store-location.ts';
import { catchUpWithFiles } from '#sync/catch-up.ts';
import { findProject } from '#sync/find-project.ts';
import { mergeTaskFiles } from '#sync/merge-task-files.ts';
import { FORGE, makeProject, measureCommands, median, temporaryFolder, type Result } from './measure.ts';
import { taskId } from './fill-store.ts';
import { writeTaskFile } from './task-lines.ts';

const COUNT = 10_000;
const NAME = COUNT.toLocaleString('en');
const LATER = 1_900_000_000_000;
const HOOK_BUDGET_MS = 150;

/** What git and every command wait for: the merge driver, a file that did not change, the hook of a commit. */
export async function benchSyncGit(): Promise<Result[]> {
  return [benchMerge(), ...(await benchUnchanged()), ...benchHook(), ...benchLargeHook()];
}

/** A hundred tasks changed on each side, ten of them on both. */
function benchMerge(): Result {
  using folder = temporaryFolder();
  const side = (name: string, change?: (record: TaskRecord, i: number) => TaskRecord): string => {
    writeTaskFile(join(folder.path, name), COUNT, change);
    return readFileSync(join(folder.path, name), 'utf8');
  };
  const base = side('base');
  const ours = side('ours', (record, i) =>
    i % 100 === 0 ? editRecord(record, { fields: new Map([['title', `Ours ${i}`]]) }, LATER) : record,
  );
  const theirs = side('theirs', (record, i) =>
    i % 100 === (i % 1_000 === 0 ? 0 : 3) ? claimRecord(record, 'worker', LATER + 1) : record,
  );
  const parsed: number[] = [];
  const merged: number[] = [];
  for (let round = 0; round < 15; round += 1) {
    parsed.push(timed(() => [base, ours, theirs].map(parseAll)));
    merged.push(timed(() => mergeTaskFiles(base, ours, theirs, { now: Date.now() })));
  }
  const [ms, baseline] = [median(merged), median(parsed)];
  return {
    what: `merge driver, ${NAME} tasks, 100 changed on each side`,
    baseline: '`JSON.parse` of the three files',
    ratio: ms / baseline,
    budget: 3,
    sense: 'at most',
    figures: `${ms.toFixed(1)} ms / ${baseline.toFixed(1)} ms`,
  };
}

function parseAll(text: string): unknown[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
}

async function benchUnchanged(): Promise<Result[]> {
  using folder = temporaryFolder();
  using bare = temporaryFolder();
  const database = prepareProject(folder.path);
  prepareProject(bare.path);
  for (const name of ['tasks.jsonl', 'history.jsonl']) rmSync(join(bare.path, '.forge', name));
  await using store = await openStore(locationOf(database), { clock: systemClock });
  const found = findProject(folder.path, process.env, bare.path);
  const tell = { clock: () => systemClock.now(), notice: () => undefined, env: process.env };
  const times: number[] = [];
  for (let round = 0; round < 400; round += 1) {
    const started = performance.now();
    const { tasks } = await catchUpWithFiles(store, found, tell);
    times.push(performance.now() - started);
    if (tasks !== undefined) throw new Error('a file that did not change was folded');
  }
  const ms = median(times);
  const ready = [FORGE, 'ready', '--json', '--limit', '20'];
  const cold = (cwd: string): number => measureCommands({ ready }, { cwd, rounds: 20 }).ready.ms;
  const [without, with_file] = [cold(bare.path), cold(folder.path)];
  return [
    {
      what: `looking at unchanged task files, in process, ${NAME} tasks`,
      baseline: '1 ms',
      ratio: ms,
      budget: 1,
      sense: 'at most',
      figures: `${(ms * 1000).toFixed(0)} µs, the first time ${((times[0] ?? 0) * 1000).toFixed(0)} µs`,
    },
    {
      what: `\`forge ready\`, cold, ${NAME} tasks in an unchanged file`,
      baseline: 'the same without the file',
      ratio: with_file / without,
      budget: 1.1,
      sense: 'at most',
      figures: `${with_file.toFixed(1)} ms / ${without.toFixed(1)} ms`,
    },
  ];
}

/** Commits of one file, with one task changed before each; in turn, so that a noisy moment hits all of them alike. */
function benchHook(): Result[] {
  using folder = temporaryFolder();
  using node = temporaryFolder();
  prepareProject(folder.path);
  git(node.path, 'init', '--quiet', '--initial-branch=main');
  const hook = join(node.path, '.git/hooks/pre-commit');
  writeFileSync(hook, `#!/bin/sh\nexec '${process.execPath}' -e 0\n`);
  chmodSync(hook, 0o755);
  const times = { plain: [], hook: [], own: [], node: [] } as Record<
    'plain' | 'hook' | 'own' | 'node',
    number[]
  >;
  for (let round = 0; round < 15; round += 1) {
    stageOne(node.path, `bare ${round}`);
    times.node.push(timed(() => git(node.path, 'commit', '--quiet', '-m', 'node')));
    stageOne(folder.path, `plain ${round}`);
    times.plain.push(timed(() => git(folder.path, 'commit', '--quiet', '--no-verify', '-m', 'plain')));
    changeTask(folder.path, round);
    stageOne(folder.path, `hook ${round}`);
    times.hook.push(timed(() => git(folder.path, 'commit', '--quiet', '-m', 'hook')));
    // What git itself takes for a task file that somebody else wrote.
    changeTask(folder.path, round + 0.5);
    forge(folder.path, 'export');
    stageOne(folder.path, `own ${round}`);
    times.own.push(
      timed(() => {
        git(folder.path, 'add', '.forge');
        git(folder.path, 'commit', '--quiet', '--no-verify', '-m', 'own');
      }),
    );
  }
  const ms = (name: keyof typeof times): number => median(times[name].slice(2));
  const figures = `commit ${ms('hook').toFixed(0)} ms; without hooks ${ms('plain').toFixed(0)} ms; git add and commit by hand ${ms('own').toFixed(0)} ms; with a hook of \`node -e 0\` ${ms('node').toFixed(0)} ms`;
  return [
    {
      what: `pre-commit hook, ${NAME} tasks, one changed, beyond git's own work on the same files`,
      baseline: `${HOOK_BUDGET_MS} ms`,
      ratio: (ms('hook') - ms('own')) / HOOK_BUDGET_MS,
      budget: 1,
      sense: 'at most',
      figures,
    },
    {
      what: `commit with the pre-commit hook, ${NAME} tasks, one changed`,
      baseline: 'a commit whose hook is `node -e 0`',
      ratio: ms('hook') / ms('node'),
      budget: 5,
      sense: 'at most',
      figures: `${ms('hook').toFixed(0)} ms / ${ms('node').toFixed(0)} ms`,
    },
  ];
}

const LARGE = 50_000;
const LARGE_NAME = LARGE.toLocaleString('en');
const LARGE_BUDGET_MS = 400;
/** Enough for the task file to be packed once and to begin anew. */
const LARGE_ROUNDS = 24;
const LOOSE_BUDGET_MB = 96;

/** The same where git itself has much to do: 35 MB to read, to compress and to keep, anew with each commit. */
function benchLargeHook(): Result[] {
  using folder = temporaryFolder();
  prepareProject(folder.path, LARGE);
  const times: number[] = [];
  const hashes: number[] = [];
  const sizes: number[] = [];
  for (let round = 0; round < LARGE_ROUNDS; round += 1) {
    hashes.push(timed(() => git(folder.path, 'hash-object', '.forge/tasks.jsonl')));
    changeTask(folder.path, round);
    stageOne(folder.path, `large ${round}`);
    times.push(timed(() => git(folder.path, 'commit', '--quiet', '-m', 'large')));
    sizes.push(looseMegabytes(folder.path));
  }
  const commit = median(times);
  const most = Math.max(...sizes);
  const each = Math.max(...sizes.map((size, at) => size - (sizes[at - 1] ?? size)));
  const hash = median(hashes);
  return [
    {
      what: `commit with the pre-commit hook, ${LARGE_NAME} tasks (35 MB), one changed`,
      baseline: `${LARGE_BUDGET_MS} ms`,
      ratio: commit / LARGE_BUDGET_MS,
      budget: 1,
      sense: 'at most',
      figures: `${commit.toFixed(0)} ms, the median of ${LARGE_ROUNDS}; the least ${Math.min(...times).toFixed(0)} ms`,
    },
    {
      what: 'the same commit',
      baseline: '`git hash-object` of the task file, which `git add` cannot do without',
      ratio: commit / hash,
      budget: 4,
      sense: 'at most',
      figures: `${commit.toFixed(0)} ms / ${hash.toFixed(0)} ms`,
    },
    {
      what: `git's loose objects in ${LARGE_ROUNDS} such commits, the most at any time`,
      baseline: `${LOOSE_BUDGET_MB} MB`,
      ratio: most / LOOSE_BUDGET_MB,
      budget: 1,
      sense: 'at most',
      figures: `${most.toFixed(0)} MB; ${each.toFixed(1)} MB a commit`,
    },
  ];
}

function looseMegabytes(cwd: string): number {
  const { stdout } = spawnSync('git', ['count-objects', '-v'], { cwd, encoding: 'utf8' });
  return Number(/^size: (\d+)$/m.exec(stdout)?.[1]) / 1024;
}

/** A project whose task files hold all there is, committed; gives the path of its database. */
function prepareProject(path: string, count = COUNT): string {
  const database = makeProject(path);
  writeTaskFile(join(path, '.forge/tasks.jsonl'), count);
  forge(path, 'export');
  git(path, 'add', '.');
  git(path, 'commit', '--quiet', '--no-verify', '-m', 'tasks');
  // Times of the last moments are not trusted, so that the first command after them looks at the bytes.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  forge(path, 'ready', '--limit', '1');
  return database;
}

function changeTask(path: string, round: number): void {
  forge(path, 'task', 'update', taskId(3), '--title', `Changed ${round}`, '--actor', 'bench');
}

function stageOne(path: string, text: string): void {
  writeFileSync(join(path, 'file.txt'), `${text}\n`);
  git(path, 'add', 'file.txt');
}

function git(cwd: string, ...args: readonly string[]): void {
  const who = ['-c', 'user.name=bench', '-c', 'user.email=bench@localhost'];
  const { status, stderr } = spawnSync('git', [...who, ...args], { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`git ${args.join(' ')} exited with ${status}: ${stderr}`);
}

function forge(cwd: string, ...args: readonly string[]): void {
  const { status, stderr } = spawnSync(process.execPath, [FORGE, ...args], { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`forge ${args.join(' ')} exited with ${status}: ${stderr}`);
}

function timed(work: () => unknown): number {
  const started = performance.now();
  work();
  return performance.now() - started;
}
