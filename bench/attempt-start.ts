import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, readFileSync } from 'node:fs';
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
/** Written by the agent itself, as its first act, into its checkout: walls keep it from writing elsewhere. */
const MARK = 'started';
const SCRIPT = `echo "$EPOCHREALTIME" > ${MARK}`;

/**
 * From the call that claims a task to the first line of its agent, inside of one process: the claim, the attempt and
 * its ports, the branch, the checkout with its own git directory, the run and its log, the supervised start. Beside it
 * `git worktree add` with a new branch and the start of the same program, and `forge run` as a process of its own, in
 * turn. In memory where the machine offers it: on a disk thousands of files that were just removed make the next ones
 * take several times as long, for every program that writes them, and then the part took longer than the whole.
 */
export async function benchAttemptStart(): Promise<Result[]> {
  const results: Result[] = [];
  for (const files of SIZES.map((size) => scaled(size, 100))) results.push(await measureStart(files));
  return results;
}

async function measureStart(files: number): Promise<Result> {
  using project = makeAttemptProject(files, 'in memory');
  appendFileSync(join(project.path, '.gitignore'), `${MARK}\n`);
  project.git('commit', '--quiet', '--no-verify', '--all', '--message', 'mark');
  await using ours = await openAttempts(project);
  const starts = {
    bare: (at: number) => startBare(project, at),
    forge: () => ours.start(),
    cold: () => ours.startCold(),
  };
  const times: Record<keyof typeof starts, number[]> = { bare: [], forge: [], cold: [] };
  for (let round = -2; round < ROUNDS; round += 1) {
    for (const name of ['bare', 'forge', 'cold'] as const) {
      const ms = await starts[name](round + 2);
      if (round >= 0) times[name].push(ms);
    }
  }
  const [bare, inProcess, cold] = [median(times.bare), median(times.forge), median(times.cold)];
  return {
    what: `claim to the agent's first line, ${files} files`,
    baseline: '`git worktree add` and the same program started',
    ratio: inProcess / bare,
    budget: 1.2,
    sense: 'at most',
    figures: `${inProcess.toFixed(0)} ms against ${bare.toFixed(0)} ms; \`forge run\` as a cold process ${cold.toFixed(0)} ms`,
  };
}

const run = promisify(execFile);

async function startBare({ path, env, folder }: AttemptProject, at: number): Promise<number> {
  const worktree = join(folder.path, `bare-${at}`);
  const branch = `bare-${at}`;
  const began = now();
  await run('git', ['worktree', 'add', '--quiet', '-b', branch, worktree, 'main'], { cwd: path, env });
  await once(spawn('bash', ['-c', SCRIPT], { cwd: worktree, env, stdio: 'ignore' }), 'close');
  const ms = readMark(worktree) - began;
  await run('git', ['worktree', 'remove', '--force', worktree], { cwd: path, env });
  await run('git', ['branch', '--quiet', '-D', branch], { cwd: path, env });
  return ms;
}

interface OpenAttempts extends AsyncDisposable {
  start(): Promise<number>;
  /** The same by the command line, the start of the process included. */
  startCold(): Promise<number>;
}

async function openAttempts(project: AttemptProject): Promise<OpenAttempts> {
  const { path, env, forge } = project;
  const create = (): string =>
    (JSON.parse(forge('task', 'create', 'Something to do', '--json')) as { id: string }).id;
  const ctx = await openProject(project);
  const wish = { executor: 'shell', command: ['bash', '-c', SCRIPT], permissions: 'all' } as const;
  await addAgent(ctx.place.home, { name: AGENT, wish, now: Date.now() });
  const workshop = await ctx.workshop();
  const { store } = ctx.project;
  /** When the agent of the task began; its checkout is removed. */
  const finish = async (id: string): Promise<number> => {
    const [attempt] = await store.listAttempts({ task_id: id, there: true });
    if (attempt === undefined) throw new Error('no attempt is left to look at');
    const at = readMark(attempt.path);
    await removeWorkspace(workshop.place, attempt);
    return at;
  };
  return {
    async start() {
      const engine = { ...(await engineOf(ctx)), follows: true };
      const id = create();
      const began = now();
      const { outcome } = await claimTask(engine, { id, assignee: AGENT, force: false });
      if (outcome !== 'claimed') throw new Error(`not claimed: ${outcome}`);
      await workshop.settled(id);
      return (await finish(id)) - began;
    },
    async startCold() {
      const id = create();
      const began = now();
      // It ends with 1: the agent has changed nothing.
      spawnSync(process.execPath, [FORGE, 'run', id, '--agent', AGENT], { cwd: path, env, stdio: 'ignore' });
      return (await finish(id)) - began;
    },
    [Symbol.asyncDispose]: () => ctx[Symbol.asyncDispose](),
  };
}

/** Milliseconds of the wall clock, as the agent writes seconds of it. */
function now(): number {
  return performance.timeOrigin + performance.now();
}

function readMark(worktree: string): number {
  return Number(readFileSync(join(worktree, MARK), 'utf8').replace(',', '.')) * 1000;
}
