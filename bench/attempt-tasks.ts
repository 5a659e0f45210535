import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PLAY } from '#app/version.ts';
import { makeAttemptProject, scaled, type AttemptProject } from './attempt-project.ts';
import { FORGE, type Result } from './measure.ts';

const TASKS = scaled(50, 8);
const FILES = 500;
const AT_ONCE = 4;
const CHECK = 'grep --quiet "file 7" part-0/file-7.txt && test ! -e broken';

/**
 * Many tasks from `todo` to a merge on main: worktree, agent, commit, check, queue, check of the candidate, done.
 * Beside them a shell script with the same git work, the same agent and the same checks, as many at once.
 */
export function benchAttemptTasks(): Result[] {
  using project = makeAttemptProject(FILES);
  const bare = runBare(project);
  const forge = runForge(project);
  const agents = runAgents(project);
  const own = forge.own_cpu_ms / TASKS;
  const [ours, theirs] = [forge.cpu_ms - agents.cpu_ms, bare.cpu_ms - agents.cpu_ms];
  return [
    {
      what: `${TASKS} tasks by the script executor to their merge, ${AT_ONCE} at once: the time for all`,
      baseline: 'a shell script with the same agent, git and checks',
      ratio: forge.ms / bare.ms,
      budget: 2,
      sense: 'at most',
      figures: `${toRate(forge.ms)} tasks / s against ${toRate(bare.ms)}`,
    },
    {
      what: 'CPU a task, of Forge and all git and checks it starts, without the agent',
      baseline: 'the same of the shell script',
      ratio: ours / theirs,
      budget: 2,
      sense: 'at most',
      figures: `${(ours / TASKS).toFixed(0)} ms, of which ${own.toFixed(0)} ms in Forge's own process, against ${(theirs / TASKS).toFixed(0)} ms; the agent ${(agents.cpu_ms / TASKS).toFixed(0)} ms`,
    },
  ];
}

function toRate(ms: number): string {
  return ((TASKS / ms) * 1000).toFixed(1);
}

interface Cost {
  readonly ms: number;
  /** Of everything that was started. */
  readonly cpu_ms: number;
}

function runForge(project: AttemptProject): Cost & { readonly own_cpu_ms: number } {
  const { path, folder, forge } = project;
  const trajectories = listNumbers().map((number) => ({
    match: `Task ${number}.`,
    steps: toSteps('forge', number),
  }));
  const script = join(folder.path, 'script.json');
  writeFileSync(script, JSON.stringify({ trajectories }));
  const agent = ['--executor', 'script', '--command', script, '--max', String(AT_ONCE)];
  forge('agent', 'add', 'bench', ...agent);
  for (const number of listNumbers()) forge('task', 'create', `Task ${number}.`, '--ci-step', CHECK);
  const cpu = join(folder.path, 'own-cpu');
  const preload = ['--require', join(import.meta.dirname, 'workers/report-cpu.cjs')];
  const dispatch = ['dispatch', '--until-empty', '--merge', '--max', String(AT_ONCE), '--quiet'];
  const cost = measure([process.execPath, ...preload, FORGE, ...dispatch], {
    ...project,
    env: { ...project.env, BENCH_CPU: cpu },
  });
  expectMerged(path, 'forge', project);
  return { ...cost, own_cpu_ms: Number(readFileSync(cpu, 'utf8')) };
}

function runBare(project: AttemptProject): Cost {
  const { path, folder } = project;
  const root = join(folder.path, 'bare');
  mkdirSync(root);
  writeSteps(root, 'bare');
  const task = join(import.meta.dirname, 'workers/bare-task.sh');
  const each = `bash ${task} {} ${root} ${root}/steps-{} '${CHECK}' ${process.execPath} ${FORGE} ${PLAY}`;
  const cost = measure(['bash', '-c', `seq 1 ${TASKS} | xargs -P ${AT_ONCE} -I {} ${each}`], project);
  expectMerged(path, 'bare', project);
  return cost;
}

/** The agent alone, to be taken off on both sides. */
function runAgents(project: AttemptProject): Cost {
  const root = join(project.folder.path, 'agents');
  mkdirSync(root);
  writeSteps(root, 'alone');
  const each = `sh -c '${process.execPath} ${FORGE} ${PLAY} < ${root}/steps-{} > ${root}/log-{}'`;
  const command = `seq 1 ${TASKS} | xargs -P ${AT_ONCE} -I {} ${each}`;
  return measure(['bash', '-c', command], { ...project, path: root });
}

function writeSteps(root: string, who: string): void {
  for (const number of listNumbers()) {
    const steps = toSteps(who, number);
    writeFileSync(join(root, `steps-${number}`), `${JSON.stringify({ steps })}\n`);
  }
}

function toSteps(who: string, number: number): object[] {
  const text = `The work of task ${number}\n`.repeat(20);
  return [{ say: 'I begin' }, { write: { path: `${who}/work-${number}.txt`, text } }, { say: 'Done' }];
}

function listNumbers(): readonly number[] {
  return Array.from({ length: TASKS }, (_, at) => at + 1);
}

/** The shell counts what all that it waited for has used, and all that those waited for. */
function measure(argv: readonly string[], { path, env }: Pick<AttemptProject, 'path' | 'env'>): Cost {
  const timed = ['-c', 'TIMEFORMAT="cpu=%U+%S"; time "$@" > /dev/null', 'bash', ...argv];
  const began = performance.now();
  const { status, stderr } = spawnSync('bash', timed, { cwd: path, env, encoding: 'utf8', maxBuffer: 1e9 });
  const ms = performance.now() - began;
  const [, user, system] = /cpu=([\d.]+)\+([\d.]+)/.exec(stderr) ?? [];
  if (status !== 0) throw new Error(`${argv.join(' ')} exited with ${status}: ${stderr}`);
  return { ms, cpu_ms: (Number(user) + Number(system)) * 1000 };
}

function expectMerged(path: string, who: string, { git }: AttemptProject): void {
  const there = git('ls-tree', '-r', '--name-only', 'main', `${who}/`).trim().split('\n');
  if (there.length !== TASKS) throw new Error(`${who}: ${there.length} of ${TASKS} merged in ${path}`);
}
