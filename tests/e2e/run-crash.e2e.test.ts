import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  addTask,
  crashProject,
  expectDone,
  expectUntouched,
  findProcesses,
  fingerprint,
  killRunsAt,
  killServersAt,
  listDoubles,
  readRows,
  type Step,
  toWitness,
} from '../support/crash-runs.ts';
import type { ForgeProject } from '../support/forge-cli.ts';
import { startForgeServer } from '../support/forge-server.ts';
import { tempFolder } from '../support/temp-repo.ts';

let project: ForgeProject;
beforeAll(async () => {
  project = await crashProject();
});
afterAll(() => project[Symbol.asyncDispose]());

/** The soak has all of them, and in between. */
const OF_RUN: readonly Step[] = [
  'attempt.started 1',
  'run.state_changed 2',
  'review.finished 1',
  'merge.started 1',
];
const OF_SERVER: readonly Step[] = ['run.state_changed 2', 'merge.started 1'];

it.runIf(process.platform === 'linux')('two agents on one task at one time would be seen', async () => {
  await using place = await tempFolder({ folder: 'home' });
  const at = { home: place.path };
  const start = (id: string) =>
    promisify(execFile)('bash', ['-c', `${toWitness(at)}; sleep 0.5`], {
      env: { ...process.env, FORGE_TASK_ID: id },
    });
  await start('one');
  await Promise.all([start('one'), start('other')]);
  expect(listDoubles(at)).toEqual([]);
  await Promise.all([start('one'), start('one')]);
  expect(listDoubles(at)).toEqual(['one']);
});

describe.each([
  ['forge run', killRunsAt, OF_RUN],
  ['forge serve --dispatch', killServersAt, OF_SERVER],
])('%s', (_name, killAt, steps) => {
  it('[S217] killed at any step is settled by the next start, and goes on where it was', async () => {
    const before = await fingerprint(project);
    for (const id of await killAt(project, steps)) await expectDone(project, id);
    await expectUntouched(project, before);
  }, 180_000);
});

describe('forge serve --dispatch', () => {
  it('told to stop ends its agents, and what they were at is ready again', async () => {
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
