import { expect, it } from 'vitest';
import { tempWorkshop } from '../../tests/support/temp-workshop.ts';
import { openWorkspace } from './attempt-workspace.ts';
import { isSideBySide } from './side-by-side.ts';
import { createRun } from './start-run.ts';
import { systemWriter, type ManagedAgent } from './work.ts';

const agent = (name: string): ManagedAgent => ({
  name,
  profile: { executor: 'shell', command: ['true'], permissions: 'all' },
  env: {},
});
const hold = { fence: null, in_state: null };

it('a run goes on with the last conversation of the same agent in the same role, and is told at once', async () => {
  await using shop = await tempWorkshop();
  const task = await shop.create('Again');
  const { attempt } = await openWorkspace(shop.place, { task, agent: 'w1' });
  const { store, watcher } = shop.place;
  const by = systemWriter(shop.place);
  const add = async (name: string, role: string, session_id: string | null): Promise<void> => {
    const made = { id: crypto.randomUUID(), task_id: task.id, attempt_id: attempt.id, agent: name, role };
    const how = { ...hold, executor: 'shell', session_id, watcher };
    const run = await store.createRun({ ...made, ...how, state: 'scheduled' }, by);
    await store.moveRun({ id: run.id, to: 'cancelled' }, by);
  };
  await add('w1', 'coder', 'older');
  await add('w1', 'coder', 'own');
  await add('w1', 'coder', null);
  await add('w1', 'reviewer', 'of another role');
  await add('w2', 'coder', 'of another agent');
  const run = await createRun(shop.place, {
    attempt,
    role: 'coder',
    agent: agent('w1'),
    hold: { fence: 0, in_state: task.state },
  });
  expect(run.session_id).toBe('own');
  expect(shop.news).toContainEqual({ kind: 'run', run });
});

it('a task with two unfinished attempts is gone on with side by side', async () => {
  await using shop = await tempWorkshop();
  const task = await shop.create('Two');
  const isSide = () => isSideBySide(shop.place, { task, state: 'in_progress' }, undefined);
  const { attempt } = await openWorkspace(shop.place, { task, agent: 'w1' });
  expect(await isSide()).toBe(false);
  const { base_commit } = attempt;
  const place = { name: 'second', path: '/none/second', target: 'main', port: null, agent: 'w1' };
  await shop.place.store.startAttempt(
    { id: crypto.randomUUID(), task_id: task.id, base_commit, ...place },
    systemWriter(shop.place),
  );
  expect(await isSide()).toBe(true);
  expect(await isSideBySide(shop.place, { task, state: 'planning' }, undefined)).toBe(false);
});
