import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { claimTask } from '#engine/change-task.ts';
import { systemClock } from '#kernel/clock.ts';
import { addAgent } from '#sync/agent-identities.ts';
import { toHomePlace } from '#sync/forge-home.ts';
import { FORGE } from '../../../tests/support/forge-cli.ts';
import { forgeProjectHere } from '../../../tests/support/forge-here.ts';
import { openServerProjects } from '../server-projects.ts';

test('work of a server goes on in the database that took the place of the old one', async () => {
  await using project = await forgeProjectHere();
  project.git('add', '-A');
  project.git('commit', '--quiet', '-m', 'first');
  const { id } = await project.create('there');
  const told: string[] = [];
  const place = toHomePlace(project.env, project.home);
  await using projects = await openServerProjects(
    { paths: [project.path], cwd: project.path },
    {
      place,
      clock: systemClock,
      env: project.env,
      program: { node: process.execPath, script: FORGE },
      notice: (line) => void told.push(line),
    },
  );
  const [served] = projects.list();
  if (served === undefined) throw new Error('no project');
  const go = join(dirname(project.path), 'go');
  const script = `until [ -e ${go} ]; do sleep 0.05; done; echo new > new.txt`;
  const wish = { executor: 'shell', command: ['bash', '-c', script], permissions: 'all' } as const;
  await addAgent(place.home, { name: 'worker-1', wish, now: systemClock.now() });
  const workshop = await served.workshop();
  await claimTask(workshop.engine(), { id, assignee: 'worker-1', force: false });
  const listRuns = () => served.use(({ store }) => store.listRuns({ task_id: id }));
  await vi.waitUntil(async () => typeof (await listRuns())[0]?.pid === 'number', { timeout: 20_000 });
  const [run] = await listRuns();

  const { folder } = served.found.paths.store;
  for (const name of readdirSync(folder).filter((one) => one.startsWith('forge.db')))
    rmSync(join(folder, name));
  await served.keepUp();
  writeFileSync(go, '');
  await workshop.settled(id);

  expect(existsSync(join(folder, 'forge.db'))).toBe(true);
  expect(await project.json('runs', 'show', run?.id ?? '')).toMatchObject({
    state: 'completed',
    outcome: 'completed',
  });
  expect(await project.json('task', 'show', id)).toMatchObject({ state: 'review' });
  // What is said once on a machine without walls is not meant.
  const rest = told.filter((line) => !line.startsWith('There are no walls'));
  expect(rest).toEqual(['The task database was made anew from the local replica: 1 task']);
});

test('[M3] a config that was bad when it was first read is read again', async () => {
  await using project = await forgeProjectHere();
  await using projects = await openServerProjects(
    { paths: [project.path], cwd: project.path },
    {
      place: toHomePlace(project.env, project.home),
      clock: systemClock,
      env: project.env,
      program: { node: process.execPath, script: FORGE },
      notice: () => undefined,
    },
  );
  const [served] = projects.list();
  if (served === undefined) throw new Error('no project');
  const path = join(project.path, '.forge', 'config.json');
  const good = readFileSync(path, 'utf8');
  writeFileSync(path, JSON.stringify({ ...(JSON.parse(good) as object), workspace: { root: '/x' } }));
  for (let look = 0; look < 2; look += 1)
    await expect(served.workshop()).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining('workspace.root'),
    });
  writeFileSync(path, good);
  await expect(served.workshop()).resolves.toBeDefined();
});
