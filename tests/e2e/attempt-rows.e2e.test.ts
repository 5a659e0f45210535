import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { systemClock } from '#kernel/clock.ts';
import { openSqliteStore, type SqliteStore } from '#store/open-sqlite-store.ts';
import { newAttempt } from '../../src/store/behaviour/open-work-behaviour.ts';
import { forgeProject, type ForgeProject } from '../support/forge-cli.ts';

it('the database is deleted: any read brings the attempts back, and the task is still refused closing without force', async () => {
  await using project = await forgeProject();
  const { id } = await project.create('Work');
  const attempt = await withStore(project, (store) => store.startAttempt(newAttempt(id), BY));

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

function storeOf(project: ForgeProject): string {
  return join(project.path, '.git', 'forge');
}

async function withStore<T>(project: ForgeProject, use: (store: SqliteStore) => Promise<T>): Promise<T> {
  const folder = storeOf(project);
  await using store = await openSqliteStore({
    database: join(folder, 'forge.db'),
    replica: join(folder, 'tasks.jsonl'),
    clock: systemClock,
  });
  return await use(store);
}
