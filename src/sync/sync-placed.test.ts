import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../../tests/support/temp-repo.ts';
import { syncPlaced } from './sync-placed.ts';

it('syncs a file that is open to be read, and its folder', async () => {
  await using folder = await tempFolder();
  await folder.write('tasks.jsonl', '{}\n');
  const path = join(folder.path, 'tasks.jsonl');
  const file = openSync(path, 'r');
  syncPlaced(path, file);
  closeSync(file);
  // A sync that failed is not taken for one that worked.
  expect(() => syncPlaced(path, file)).toThrow('EBADF');
  expect(() => syncPlaced(join(folder.path, 'none', 'tasks.jsonl'))).toThrow('ENOENT');
});

it.skipIf(process.platform !== 'linux')('goes on where the file system has no sync of folders', () => {
  expect(() => syncPlaced('/proc/version')).not.toThrow();
});
