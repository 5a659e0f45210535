import { expect, it } from 'vitest';
import {
  addTask,
  countEvents,
  crashProject,
  expectDone,
  expectUntouched,
  fingerprint,
  killRunsAt,
  killServersAt,
  readRows,
  setUp,
  STEPS,
} from '../support/crash-runs.ts';
import { startForgeServer } from '../support/forge-server.ts';

const ROUNDS = 10;
const KILLS = 40;

it.each([
  ['forge run', killRunsAt],
  ['forge serve --dispatch', killServersAt],
])(
  '%s killed at every step, again and again',
  async (_name, killAt) => {
    await using project = await crashProject();
    const before = await fingerprint(project);
    for (let round = 0; round < ROUNDS; round += 1) {
      const ids = await killAt(project, STEPS, `${round} `);
      for (const id of ids) await expectDone(project, id);
      await expectUntouched(project, before);
    }
  },
  3_600_000,
);

it('forge serve --dispatch killed again and again with tasks at every step', async () => {
  await using project = await crashProject();
  await setUp(project, { merge: { target: 'main', auto: true }, workspace: { ports: 0 } });
  const before = await fingerprint(project);
  const ids: string[] = [];
  for (let kill = 0; kill < KILLS; kill += 1) {
    // The first command after a kill tells what it settled; only the others have nothing to tell.
    await project.run('status');
    ids.push((await addTask(project, `Task ${kill}`)).id);
    const until = countEvents(project) + 2 + (kill % 23);
    await using server = await startForgeServer(project, ['--port', '0', '--dispatch']);
    await expect
      .poll(() => countEvents(project), { timeout: 60_000, interval: 2 })
      .toBeGreaterThanOrEqual(until);
    server.kill('SIGKILL');
    await server.ended;
  }
  await using _server = await startForgeServer(project, ['--port', '0', '--dispatch']);
  await expect
    .poll(() => ids.filter((id) => readRows(project, id).state !== 'done'), { timeout: 600_000 })
    .toEqual([]);
  for (const id of ids) await expectDone(project, id);
  await expectUntouched(project, before);
}, 3_600_000);
