import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { systemClock } from '#kernel/clock.ts';
import { openStore, type Store } from '#store/open-store.ts';
import { forgeProject, type ForgeProject } from '../support/forge-cli.ts';

it('the database is deleted: any read brings the attempts back, and the task is still refused closing without force', async () => {
  await using project = await forgeProject();
  const { id } = await project.create('Work');
  const attempt = await withStore(project, async (store) => {
    const started = await store.startAttempt({ ...ATTEMPT, task_id: id }, BY);
    // There is no folder: what closing a task does to one is shown elsewhere.
    return store.changeAttempt({ id: started.id, removed_at: started.created_at }, BY);
  });

  const refused = await project.fails('task', 'close', id, '--reason', 'done');
  expect(refused.error).toMatchObject({ code: 'state_invalid', details: { id, attempt: attempt.id } });
  expect(refused.error.message).toContain(attempt.name);
  expect(refused.error.hint).toBe(`forge task close ${id} --force --reason "…"`);
  const updated = await project.fails('task', 'update', id, '--status', 'closed');
  expect(updated.error.code).toBe('state_invalid');

  for (const name of readdirSync(storeOf(project)))
    if (name.startsWith('forge.db')) rmSync(join(storeOf(project), name));
  expect(await project.run('ready')).toMatchObject({ exit: 0 });
  expect(await withStore(project, (store) => store.listAttempts({}))).toEqual([attempt]);

  await project.fails('task', 'close', id, '--reason', 'done');
  const closed = await project.json('task', 'close', id, '--reason', 'by hand', '--force');
  expect(closed).toMatchObject({ status: 'closed', close_reason: 'by hand' });
  expect(await project.text('task', 'history', id)).toContain('closed: by hand, forced');
});

const BY = { actor: { kind: 'user', name: 'ann', named: true }, now: Date.UTC(2026, 1, 10) } as const;

const ATTEMPT = {
  id: '35a40000-0000-4000-8000-000000000001',
  name: '35a4-work',
  path: '/nowhere/35a4-work',
  target: 'main',
  base_commit: 'a'.repeat(40),
  agent: null,
  port: null,
};

function storeOf(project: ForgeProject): string {
  return join(project.path, '.git', 'forge');
}

async function withStore<T>(project: ForgeProject, use: (store: Store) => Promise<T>): Promise<T> {
  const folder = storeOf(project);
  await using store = await openStore({ folder }, { clock: systemClock });
  return await use(store);
}
