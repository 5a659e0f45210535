import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openFound } from '#app/open-context.ts';
import { catchUpWithFiles } from '#sync/catch-up.ts';
import { findProject } from '#sync/find-project.ts';
import { forgeClones } from './support/git-clones.ts';

const FILE = '.forge/tasks.jsonl';

/** In steps, since the commands of this process and the lock that is held against them share one event loop. */
it('[D5] a read beside a writer answers from the database, and says that the file is newer', async () => {
  await using world = await forgeClones(['a']);
  const { a } = world.clone;
  const { id } = await a.create('known');
  await a.commitTasks();
  a.write(FILE, a.read(FILE).replace('"title":"known"', '"title":"edited"'));
  using writer = new DatabaseSync(join(a.path, '.git/forge/forge.db'));
  writer.exec('BEGIN IMMEDIATE');
  for (const args of [['ready'], ['task', 'show', id, '--json'], ['task', 'list']]) {
    const { exit, stdout, stderr } = await a.run(...args);
    expect({ args, exit, isKnown: stdout.includes('known') }).toEqual({ args, exit: 0, isKnown: true });
    expect(stderr).toContain(`${FILE} is newer than what is shown`);
  }
  writer.exec('ROLLBACK');
  const { stdout, stderr } = await a.run('ready');
  expect(stdout).toContain('edited');
  expect(stderr).toBe('');
});

const quiet = (): void => undefined;

it('[D5] a read asks for the lock for 50 ms, and a write for as long as its store waits', async () => {
  await using world = await forgeClones(['a']);
  const { a } = world.clone;
  const { env } = world.place;
  await a.create('known');
  await a.commitTasks();
  const found = findProject(a.path, env, world.folder);
  await using project = await openFound(found, { env, notice: quiet, meter: quiet });
  const asked: (number | undefined)[] = [];
  const store: typeof project.store = new Proxy(project.store, {
    get(target, name) {
      if (name !== 'foldTasks') return Reflect.get(target, name);
      return (...[request, by]: Parameters<typeof target.foldTasks>) => {
        asked.push(request.lock_ms);
        return target.foldTasks(request, by);
      };
    },
  });
  const catchUp = async (title: string, reads: boolean): Promise<readonly (number | undefined)[]> => {
    a.write(FILE, a.read(FILE).replace(/"title":"[^"]*"/, `"title":"${title}"`));
    await catchUpWithFiles(store, found, { env, notice: quiet, clock: Date.now, reads });
    return [...new Set(asked.splice(0))];
  };
  expect(await catchUp('seen by a read', true)).toEqual([50]);
  expect(await catchUp('seen by a write', false)).toEqual([undefined]);
});
