import { once } from 'node:events';
import { expect, it } from 'vitest';
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
  STEPS,
} from '../support/crash-runs.ts';
import { startForgeServer } from '../support/forge-server.ts';

const ROUNDS = 10;
const KILLS = 40;

it('forge run killed at every step, again and again', async () => {
  await using project = await crashProject();
  const before = await fingerprint(project);
  for (let round = 0; round < ROUNDS; round += 1) {
    const ids = await inTurns(STEPS, 1, async (step) => (await addTask(project, `${round} ${step}`)).id);
    await inTurns([...STEPS.entries()], 3, ([at, step]) => killAt(project, ids[at] ?? '', step));
    {
      await using _server = await startForgeServer(project);
      await expect
        .poll(() => ids.map((id) => readRows(project, id).open), { timeout: 10_000 })
        .toEqual(ids.map(() => 0));
      await expect
        .poll(() => ids.filter((id) => !['todo', 'review', 'done'].includes(readRows(project, id).state)), {
          timeout: 10_000,
        })
        .toEqual([]);
      expect(ids.flatMap(findProcesses)).toEqual([]);
    }
    const rest = ids.filter((id) => readRows(project, id).state !== 'done');
    if (rest.length > 0) await once(startRun(project, rest), 'exit');
    for (const id of ids) await expectDone(project, id);
    await expectUntouched(project, before);
  }
}, 3_600_000);

it('forge serve --dispatch killed again and again with tasks at every step', async () => {
  await using project = await crashProject();
  await setUp(project, { merge: { target: 'main', auto: true }, workspace: { ports: 0 } });
  const before = await fingerprint(project);
  const count = (): number => {
    using db = project.openDatabase();
    return Number(db.prepare('SELECT max(seq) AS n FROM events').get()?.['n']);
  };
  const ids: string[] = [];
  for (let kill = 0; kill < KILLS; kill += 1) {
    ids.push((await addTask(project, `Task ${kill}`)).id);
    const until = count() + 2 + (kill % 23);
    await using server = await startForgeServer(project, ['--port', '0', '--dispatch']);
    await expect.poll(count, { timeout: 60_000, interval: 2 }).toBeGreaterThanOrEqual(until);
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
