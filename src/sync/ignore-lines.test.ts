import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../../tests/support/temp-repo.ts';
import { addIgnoreLines, removeIgnoreLines } from './ignore-lines.ts';

it('adds the lines of the database to an ignore file, and takes them out again', async () => {
  await using folder = await tempFolder();
  const file = join(folder.path, '.gitignore');
  writeFileSync(file, 'node_modules\n');
  const undo: (() => void)[] = [];
  addIgnoreLines(file, undo);
  expect(readFileSync(file, 'utf8')).toBe(
    'node_modules\n.forge/forge.db\n.forge/forge.db-shm\n.forge/forge.db-wal\n',
  );
  expect(undo).toHaveLength(1);
  expect(removeIgnoreLines(file)).toBe(true);
  expect(readFileSync(file, 'utf8')).toBe('node_modules\n');
});
