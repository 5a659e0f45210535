import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { claimTask } from '#engine/change-task.ts';
import { removeWorkspace } from '#engine/retire-attempts.ts';
import { engineOf } from '#operations/engine-of.ts';
import { addAgent } from '#sync/agent-identities.ts';
import { makeAttemptProject, openProject, scaled, type AttemptProject } from './attempt-project.ts';
import { FORGE, median, type Result } from './measure.ts';

const SIZES = [100, 3_000, 20_000];
const ROUNDS = scaled(15, 9);
const AGENT = 'bench';
/** Written by the agent itself, as its first act. */
const SCRIPT = 'echo "$EPOCHREALTIME" > "$0"';

/**
 * From the call that claims a task to the first line of its agent, inside of one process: the claim, the attempt and
 * its ports, the branch, the checkout with its own git directory, the run and its log, the supervised start. Beside it
 * `git worktree add` with a new branch and the start of the same program, in turn.
 */
export async function benchAttemptStart(): Promise<Result[]> {
  const results: Result[] = [];
  for (const files of SIZES.map((size) => scaled(size, 100))) results.push(await measureStart(files));
  return results;
}

async function measureStart(files: number): Promise<Result> {
  using project = makeAttemptProject(files);
  const mark = join(project.folder.path, 'started');
  await using ours = await openAttempts(project, mark);
  const [bare, forge]: [number[], number[]] = [[], []];
  for (let round = -2; round < ROUNDS; round += 1) {
    const one = await startBare(project, mark, round + 2);
    const other = await ours.start();
    if (round < 0) continue;
    bare.push(one);
    forge.push(other);
  }
  const cold = [ours.startCold(), ours.startCold(), ours.startCold()];
  const inProcess = median(forge);
  return {
    what: `claim to the agent's first line, ${files} files`,
    baseline: '`git worktree add` and the same program started',
    ratio: inProcess / median(bare),
    budget: 1.2,
    sense: 'at most',
    figures: `${inProcess.toFixed(0)} ms against ${median(bare).toFixed(0)} ms; \`forge run\` as a cold process ${median(cold).toFixed(0)} ms`,
  };
}

const run = promisify(execFile);

async function startBare({ path, env, folder }: AttemptProject, mark: string, at: number): Promise<number> {
  const worktree = join(folder.path, `bare-${at}`);
  const branch = `bare-${at}`;
  const began = now();
  await run('git', ['worktree', 'add', '--quiet', '-b', branch, worktree, 'main'], { cwd: path, env });
  await once(spawn('bash', ['-c', SCRIPT, mark], { cwd: worktree, env, stdio: 'ignore' }), 'close');
  const ms = readMark(mark) - began;
  await run('git', ['worktree', 'remove', '--force', worktree], { cwd: path, env });
  await run('git', ['branch', '--quiet', '-D', branch], { cwd: path, env });
  return ms;
}

interface OpenAttempts extends AsyncDisposable {
  start(): Promise<number>;
  /** The same by the command line, the start of the process included. */
  startCold(): number;
}

async function openAttempts(project: AttemptProject, mark: string): Promise<OpenAttempts> {
  const { path, env, forge } = project;
  const create = (): string =>
    (JSON.parse(forge('task', 'create', 'Something to do', '--json')) as { id: string }).id;
  const ctx = await openProject(project);
  const wish = { executor: 'shell', command: ['bash', '-c', SCRIPT, mark], permissions: 'all' } as const;
  await addAgent(ctx.place.home, { name: AGENT, wish, now: Date.now() });
  const workshop = await ctx.workshop();
  const { store } = ctx.project;
  return {
    async start() {
      const engine = { ...(await engineOf(ctx)), follows: true };
      const id = create();
      const began = now();
      const { outcome } = await claimTask(engine, { id, assignee: AGENT, force: false });
      if (outcome !== 'claimed') throw new Error(`not claimed: ${outcome}`);
      await workshop.settled(id);
      const ms = readMark(mark) - began;
      for (const attempt of await store.listAttempts({ task_id: id, there: true }))
        await removeWorkspace(workshop.place, attempt);
      return ms;
    },
    startCold() {
      const id = create();
      const began = now();
      // It ends with 1: the agent has changed nothing.
      spawnSync(process.execPath, [FORGE, 'run', id, '--agent', AGENT], { cwd: path, env, stdio: 'ignore' });
      return readMark(mark) - began;
    },
    [Symbol.asyncDispose]: () => ctx[Symbol.asyncDispose](),
  };
}

/** Milliseconds of the wall clock, as the agent writes seconds of it. */
function now(): number {
  return performance.timeOrigin + performance.now();
}

function readMark(path: string): number {
  const ms = Number(readFileSync(path, 'utf8').replace(',', '.')) * 1000;
  rmSync(path);
  return ms;
}
