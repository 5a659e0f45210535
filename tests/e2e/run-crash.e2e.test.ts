import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inTurns } from '#engine/in-turns.ts';
import {
  addTask,
  crashProject,
  expectDone,
  expectUntouched,
  findProcesses,
  fingerprint,
  killAt,
  readRows,
  setUp,
  startRun,
  type Step,
} from '../support/crash-runs.ts';
import type { ForgeProject } from '../support/forge-cli.ts';
import { startForgeServer } from '../support/forge-server.ts';

let project: ForgeProject;
beforeAll(async () => {
  project = await crashProject();
});
afterAll(() => project[Symbol.asyncDispose]());

const STEPS: readonly Step[] = [
  'task.claimed 1',
  'attempt.started 1',
  'run.state_changed 2',
  'run.state_changed 4',
  'review.started 1',
  'review.finished 1',
  'merge.started 1',
  'merge.finished 1',
];

describe('forge run', () => {
  it('[S217] killed at any step is settled by the next start, and goes on where it was', async () => {
    const before = await fingerprint(project);
    const ids = await inTurns(STEPS, 1, async (step) => (await addTask(project, step)).id);
    await inTurns([...STEPS.entries()], 3, ([at, step]) => killAt(project, ids[at] ?? '', step));
    await using server = await startForgeServer(project);
    await expect
      .poll(() => ids.map((id) => readRows(project, id).open), { timeout: 10_000 })
      .toEqual(ids.map(() => 0));
    await expect
      .poll(() => ids.filter((id) => !['todo', 'review', 'done'].includes(readRows(project, id).state)), {
        timeout: 10_000,
      })
      .toEqual([]);
    expect(ids.flatMap(findProcesses)).toEqual([]);
    server.kill('SIGTERM');
    expect(await server.ended).toEqual({ code: 0, signal: null });
    const rest = ids.filter((id) => readRows(project, id).state !== 'done');
    const [exit] = await once(startRun(project, rest), 'exit');
    expect(exit).toBe(0);
    for (const id of ids) await expectDone(project, id);
    await expectUntouched(project, before);
  }, 120_000);
});

describe('forge serve --dispatch', () => {
  it('killed again and again brings every task to its end, each once', async () => {
    await setUp(project, { merge: { target: 'main', auto: true }, workspace: { ports: 0 } });
    const before = await fingerprint(project);
    const ids = await inTurns([1, 2, 3, 4], 1, async (n) => (await addTask(project, `Task ${n}`)).id);
    const count = (): number => {
      using db = project.openDatabase();
      return Number(db.prepare('SELECT max(seq) AS n FROM events').get()?.['n']);
    };
    for (const steps of [5, 9, 14]) {
      const until = count() + steps;
      await using server = await startForgeServer(project, ['--port', '0', '--dispatch']);
      await expect.poll(count, { timeout: 30_000, interval: 2 }).toBeGreaterThanOrEqual(until);
      server.kill('SIGKILL');
      await server.ended;
    }
    await using server = await startForgeServer(project, ['--port', '0', '--dispatch']);
    await expect
      .poll(() => ids.map((id) => readRows(project, id).state), { timeout: 60_000 })
      .toEqual(ids.map(() => 'done'));
    server.kill('SIGTERM');
    expect(await server.ended).toEqual({ code: 0, signal: null });
    for (const id of ids) await expectDone(project, id);
    await expectUntouched(project, before);
  }, 180_000);

  it('[S220] told to stop ends its agents, and what they were at is ready again', async () => {
    const words = ['bash', '-c', 'trap "" TERM; echo begun > x; sleep 600'].map(
      (word) => `--command=${word}`,
    );
    await project.text('agent', 'add', 'w1', '--executor', 'shell', ...words);
    const { id } = await addTask(project, 'Long');
    await using server = await startForgeServer(project, ['--port', '0', '--dispatch']);
    await expect.poll(() => findProcesses(id).length, { timeout: 30_000 }).toBeGreaterThan(0);
    server.kill('SIGTERM');
    expect(await server.ended).toEqual({ code: 0, signal: null });
    expect(findProcesses(id)).toEqual([]);
    const { state, open, runs } = readRows(project, id);
    expect({ state, open, outcomes: runs.map(({ outcome }) => outcome) }).toEqual({
      state: 'todo',
      open: 0,
      outcomes: ['crashed'],
    });
  }, 60_000);
});
