import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { findProcesses, setUp } from './crash-runs.ts';
import { FORGE, type ForgeProject } from './forge-cli.ts';
import { forgeProjectHere } from './forge-here.ts';

/** What ends a process from outside. */
export const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGKILL'] as const;
export type EndSignal = (typeof SIGNALS)[number];

/** A step of the queue: the n-th event of this name, of whichever task. */
export type QueueStep =
  `${'merge.queued' | 'merge.started' | 'merge.finished' | 'attempt.finished' | 'task.closed'} ${number}`;

/** A project whose person has main checked out, with agents that each write a file of their own. */
export async function queueProject(): Promise<ForgeProject> {
  const project = await forgeProjectHere();
  await project.write('README.md', 'first\n');
  await project.exec('git', ['add', '-A']);
  await project.exec('git', ['commit', '-qm', 'first']);
  await project.exec('git', ['branch', '-M', 'main']);
  const words = ['bash', '-c', 'echo "$FORGE_TASK_ID" > "$FORGE_TASK_ID.txt"'].map(
    (word) => `--command=${word}`,
  );
  await project.text('agent', 'add', 'w1', '--executor', 'shell', ...words);
  await setUp(project, { merge: { target: 'main' }, workspace: { ports: 0 } });
  return project;
}

/** Tasks that have passed their review: all that is left is the queue. */
export async function addPassed(project: ForgeProject, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let at = 0; at < count; at += 1) {
    // Not the same tree twice, so that the checks of each candidate really run.
    const { id } = await project.create(
      `Queued ${at}`,
      '--ci-step',
      'sleep 0.1; test -f "$FORGE_TASK_ID.txt"',
    );
    ids.push(id);
  }
  const { exit } = await project.run('run', ...ids, '--agent', 'w1', '--json');
  expect(exit).toBe(0);
  return ids;
}

/** Merges all that wait, until the step; ends it by the signal, and gives when nothing of it is left. */
export async function endAtStep(
  project: ForgeProject,
  ids: readonly string[],
  { step, signal }: { readonly step: QueueStep; readonly signal: EndSignal },
): Promise<void> {
  using database = project.openDatabase();
  const [type = '', count = ''] = step.split(' ');
  const before = countEvents(database, type);
  const child = startMerging(project, ids);
  const ended = once(child, 'exit');
  for (
    let looks = 0;
    child.exitCode === null && countEvents(database, type) < before + Number(count);
    looks += 1
  ) {
    if (looks > 6_000) throw new Error(`it did not come to ${step}`);
    await sleep(5);
  }
  child.kill(signal);
  await ended;
}

function startMerging(project: ForgeProject, ids: readonly string[]): ChildProcess {
  const args = ['run', ...ids, '--agent', 'w1', '--merge', '--max', '10', '--json'];
  return spawn(process.execPath, [FORGE, ...args], { cwd: project.path, env: project.env, stdio: 'ignore' });
}

function countEvents(database: ReturnType<ForgeProject['openDatabase']>, type: string): number {
  const row = database.prepare('SELECT count(*) AS n FROM events WHERE type = ?').get(type);
  return Number(row?.['n'] ?? 0);
}

/** Tasks that say they are done and whose file is not on main. */
export async function listUnmerged(project: ForgeProject, ids: readonly string[]): Promise<string[]> {
  // It also tells, and settles, what the process left that was ended.
  const { stdout } = await project.run('task', 'list', '--status', 'closed', '--json');
  const done = (JSON.parse(stdout) as { id: string }[]).map(({ id }) => id);
  const files = new Set((await project.exec('git', ['ls-tree', '--name-only', 'main'])).stdout.split('\n'));
  return ids.filter((id) => done.includes(id) && !files.has(`${id}.txt`));
}

/** The next start brings all of them to their end, each once. */
export async function expectAllMerged(project: ForgeProject, ids: readonly string[]): Promise<void> {
  const states = await Promise.all(ids.map(async (id) => (await project.json('task', 'show', id)).state));
  const left = ids.filter((_, at) => states[at] !== 'done');
  if (left.length > 0) expect(await once(startMerging(project, left), 'exit')).toEqual([0, null]);
  expect(await listUnmerged(project, ids)).toEqual([]);
  const log = (
    await project.exec('git', [
      'log',
      '--format=%(trailers:key=Forge-Task,valueonly)',
      '--first-parent',
      'main',
    ])
  ).stdout;
  for (const id of ids) {
    expect((await project.json('task', 'show', id)).state).toBe('done');
    expect(log.split('\n').filter((line) => line === id)).toHaveLength(1);
  }
  expect((await project.exec('git', ['status', '--porcelain', '--untracked-files=no'])).stdout).toBe('');
  expect(ids.flatMap(findProcesses)).toEqual([]);
}
