import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Merge, Run } from '#contract/attempt.ts';
import {
  compareFingerprints,
  fingerprintCheckout,
  type CheckoutFingerprint,
} from '#git/checkout-fingerprint.ts';
import { inTurns } from '#engine/in-turns.ts';
import { FORGE, type ForgeProject } from './forge-cli.ts';
import { forgeProjectHere } from './forge-here.ts';
import { startForgeServer } from './forge-server.ts';

/** The events of the happy path, in order: what a process that is killed had come to. */
export const STEPS = [
  'task.claimed 1',
  'attempt.started 1',
  'run.state_changed 1',
  'run.state_changed 2',
  'run.state_changed 3',
  'run.state_changed 4',
  'review.started 1',
  'review.step_finished 1',
  'review.finished 1',
  'merge.queued 1',
  'merge.started 1',
  'merge.finished 1',
  'attempt.finished 1',
  'attempt.removed 1',
] as const;
export type Step = (typeof STEPS)[number];

/** A project whose person is on a branch of their own, with changes that nobody else may touch. */
export async function crashProject(): Promise<ForgeProject> {
  const project = await forgeProjectHere();
  await project.write('README.md', 'first\n');
  await project.exec('git', ['add', '-A']);
  await project.exec('git', ['commit', '-qm', 'first']);
  await project.exec('git', ['branch', '-M', 'main']);
  await project.exec('git', ['switch', '-qc', 'mine']);
  await project.write('README.md', 'mine\n');
  await project.write('new.txt', 'mine\n');
  const script = `${toWitness(project)}; sleep 0.1; echo "$FORGE_TASK_ID" > "$FORGE_TASK_ID.txt"`;
  const words = ['bash', '-c', script].map((word) => `--command=${word}`);
  await project.text('agent', 'add', 'w1', '--executor', 'shell', ...words);
  await setUp(project, { merge: { target: 'main' }, workspace: { ports: 0 } });
  return project;
}

/**
 * For a shell: notes when it is not alone on its task. A lock goes with its process, so that a second agent finds it
 * held, and one that comes after a killed one does not.
 */
export function toWitness({ home }: Pick<ForgeProject, 'home'>): string {
  const note = `exec 9>"${home}/$FORGE_TASK_ID.lock"; flock -n 9 || echo "$FORGE_TASK_ID" >> "${home}/doubles"`;
  return `! command -v flock > /dev/null || { ${note}; }`;
}

/** Tasks that two agents were at, at one time. */
export function listDoubles({ home }: Pick<ForgeProject, 'home'>): string[] {
  const path = join(home, 'doubles');
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
}

/** What the person says for all projects of the machine. */
export async function setUp(project: ForgeProject, settings: object): Promise<void> {
  const { writeFile } = await import('node:fs/promises');
  await writeFile(join(project.home, '.forge', 'settings.json'), JSON.stringify(settings));
}

export function addTask(project: ForgeProject, title: string): Promise<{ id: string }> {
  return project.create(title, '--ci-step', 'sleep 0.05; test -f "$FORGE_TASK_ID.txt"');
}

/** `forge run --merge` killed at each of the steps, each with a task of its own; the next start settles them all. */
export async function killRunsAt(
  project: ForgeProject,
  steps: readonly Step[],
  round = '',
): Promise<readonly string[]> {
  const ids = await inTurns(steps, 1, async (step) => (await addTask(project, `${round}${step}`)).id);
  await inTurns([...steps.entries()], 3, ([at, step]) => killAt(project, ids[at] ?? '', step));
  await using server = await startForgeServer(project);
  await expect.poll(() => ids.map((id) => readRows(project, id).open), WITHIN).toEqual(ids.map(() => 0));
  const isSettled = (id: string): boolean => SETTLED.includes(readRows(project, id).state);
  await expect.poll(() => ids.filter((id) => !isSettled(id)), WITHIN).toEqual([]);
  expect(ids.flatMap(findProcesses)).toEqual([]);
  server.kill('SIGTERM');
  expect(await server.ended).toEqual({ code: 0, signal: null });
  const rest = ids.filter((id) => readRows(project, id).state !== 'done');
  if (rest.length > 0) expect(await once(startRun(project, rest), 'exit')).toEqual([0, null]);
  return ids;
}

/** How soon after a start nothing is left open of what was killed. */
const WITHIN = { timeout: 10_000 };
const SETTLED = ['todo', 'review', 'done'];

/**
 * `forge serve --dispatch` killed at each of the steps, one after the other: what each of them left open is settled
 * soon after the next has started, and that one brings all of them to their end.
 */
export async function killServersAt(
  project: ForgeProject,
  steps: readonly Step[],
  round = '',
): Promise<readonly string[]> {
  await setUp(project, { merge: { target: 'main', auto: true }, workspace: { ports: 0 } });
  const start = () => startForgeServer(project, ['--port', '0', '--dispatch']);
  const ids: string[] = [];
  let server = await start();
  try {
    for (const step of steps) {
      const { id } = await addTask(project, `${round}${step}`);
      ids.push(id);
      await untilStep(project, id, step, () => readRows(project, id).state === 'done');
      server.kill('SIGKILL');
      await server.ended;
      const left = listOpen(project);
      server = await start();
      await expect.poll(() => listOpen(project).filter((row) => left.includes(row)), WITHIN).toEqual([]);
    }
    await expect
      .poll(() => ids.filter((id) => readRows(project, id).state !== 'done'), { timeout: 60_000 })
      .toEqual([]);
    server.kill('SIGTERM');
    expect(await server.ended).toEqual({ code: 0, signal: null });
  } finally {
    await server[Symbol.asyncDispose]();
  }
  return ids;
}

/** Everything that says of itself that somebody is at it. */
function listOpen(project: ForgeProject): string[] {
  using db = project.openDatabase();
  const rows = db
    .prepare(
      `SELECT 'run ' || id AS row FROM runs WHERE ended_at IS NULL
       UNION ALL SELECT 'review ' || id FROM reviews WHERE status = 'running'
       UNION ALL SELECT 'merge ' || id FROM merges WHERE state IN ('queued', 'started')
       UNION ALL SELECT 'start ' || w.watcher FROM task_watchers w JOIN tasks t ON t.id = w.task_id
         WHERE t.status = 'in_progress' AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.task_id = w.task_id)`,
    )
    .all();
  return rows.map(({ row }) => String(row));
}

/** `forge run --merge` on a task, killed as soon as the step can be seen. */
async function killAt(project: ForgeProject, id: string, step: Step): Promise<void> {
  const child = startRun(project, [id]);
  const ended = once(child, 'exit');
  await untilStep(project, id, step, () => child.exitCode !== null);
  child.kill('SIGKILL');
  await ended;
}

function startRun(project: ForgeProject, ids: readonly string[]): ChildProcess {
  const args = [FORGE, 'run', ...ids, '--agent', 'w1', '--merge', '--json'];
  return spawn(process.execPath, args, { cwd: project.path, env: project.env, stdio: 'ignore' });
}

async function untilStep(
  project: ForgeProject,
  id: string,
  step: Step,
  isOver: () => boolean,
): Promise<void> {
  const [type = '', count] = step.split(' ');
  using db = project.openDatabase();
  const query = db.prepare('SELECT count(*) AS n FROM events WHERE task_id = ? AND type = ?');
  while (!isOver()) {
    if (Number(query.get(id, type)?.['n']) >= Number(count)) return;
    await sleep(3);
  }
}

export interface Rows {
  readonly state: string;
  readonly open: number;
  readonly runs: readonly Pick<Run, 'id' | 'state' | 'outcome' | 'started_at' | 'ended_at'>[];
  readonly merges: readonly Pick<Merge, 'state'>[];
}

export function readRows(project: ForgeProject, id: string): Rows {
  using db = project.openDatabase();
  const all = (sql: string): unknown[] =>
    db
      .prepare(sql)
      .all(id)
      .map((row) => ({ ...row }));
  const count = (sql: string): number => Number(db.prepare(sql).get(id)?.['n']);
  return {
    state: String(db.prepare('SELECT state FROM tasks WHERE id = ?').get(id)?.['state']),
    open:
      count('SELECT count(*) AS n FROM runs WHERE task_id = ? AND ended_at IS NULL') +
      count("SELECT count(*) AS n FROM reviews WHERE task_id = ? AND status = 'running'") +
      count("SELECT count(*) AS n FROM merges WHERE task_id = ? AND state IN ('queued', 'started')"),
    runs: all(
      'SELECT id, state, outcome, started_at, ended_at FROM runs WHERE task_id = ? ORDER BY created_at',
    ) as Run[],
    merges: all('SELECT state FROM merges WHERE task_id = ? ORDER BY seq') as Merge[],
  };
}

export function countEvents(project: ForgeProject): number {
  using db = project.openDatabase();
  return Number(db.prepare('SELECT max(seq) AS n FROM events').get()?.['n']);
}

/** Everything that was started for the task and is still there. */
export function findProcesses(id: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`FORGE_TASK_ID=${id}\0`);
    } catch {
      return false;
    }
  });
}

/** Merged once, by runs of which never two were at work, and nothing is left. */
export async function expectDone(project: ForgeProject, id: string): Promise<void> {
  const { state, open, runs, merges } = readRows(project, id);
  expect({ id, state, open }).toEqual({ id, state: 'done', open: 0 });
  expect(merges.filter((merge) => merge.state === 'landed')).toHaveLength(1);
  for (const [at, run] of runs.slice(1).entries())
    expect((run.started_at ?? run.ended_at ?? '') >= (runs[at]?.ended_at ?? ''), 'one after the other').toBe(
      true,
    );
  expect((await project.exec('git', ['show', `main:${id}.txt`])).stdout).toBe(`${id}\n`);
  for (const commit of listHeads(project, id))
    expect(await project.exec('git', ['merge-base', '--is-ancestor', commit, 'main'])).toMatchObject({
      exit: 0,
    });
  expect(findProcesses(id)).toEqual([]);
  expect(listDoubles(project)).toEqual([]);
}

/** Every commit that was ever written down as work on the task. */
function listHeads(project: ForgeProject, id: string): string[] {
  using db = project.openDatabase();
  const heads = db.prepare(
    `SELECT head_commit AS head FROM attempts WHERE task_id = ?1 AND head_commit IS NOT NULL
     UNION SELECT head_commit FROM reviews WHERE task_id = ?1 AND head_commit IS NOT NULL`,
  );
  const found = heads.all(id).map(({ head }) => String(head));
  expect(found.length).toBeGreaterThan(0);
  return found;
}

export function fingerprint(project: ForgeProject): Promise<CheckoutFingerprint> {
  const git_dir = join(project.path, '.git');
  return fingerprintCheckout({ worktree: project.path, git_dir, common_dir: git_dir, env: project.env });
}

/** Not a byte of the person's own. */
export async function expectUntouched(project: ForgeProject, before: CheckoutFingerprint): Promise<void> {
  expect(compareFingerprints(before, await fingerprint(project))).toEqual([]);
  expect(await project.exec('git', ['fsck', '--strict'])).toMatchObject({ exit: 0 });
  expect(await project.read('README.md')).toBe('mine\n');
}
