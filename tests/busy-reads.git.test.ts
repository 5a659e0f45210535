import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { expect, it } from 'vitest';
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
