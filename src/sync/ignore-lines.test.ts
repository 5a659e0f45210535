import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../../tests/support/temp-repo.ts';
import { addIgnoreLines, removeIgnoreLines } from './ignore-lines.ts';
import { toProjectPaths, type ProjectPaths } from './project-paths.ts';

const LINES = '.forge/forge.db\n.forge/forge.db-shm\n.forge/forge.db-wal\n';

function toPaths(path: string): ProjectPaths {
  const git = join(path, '.git');
  return toProjectPaths({ worktree: path, git_dir: git, common_dir: git });
}

it('adds the lines of the database to an ignore file, and takes them out again', async () => {
  await using folder = await tempFolder();
  const paths = toPaths(folder.path);
  const file = join(folder.path, '.gitignore');
  writeFileSync(file, 'node_modules\n');
  const undo: (() => void)[] = [];
  addIgnoreLines(paths, undo);
  expect(readFileSync(file, 'utf8')).toBe(`node_modules\n${LINES}`);
  expect(undo).toHaveLength(1);
  expect(removeIgnoreLines(paths)).toBe(true);
  expect(readFileSync(file, 'utf8')).toBe('node_modules\n');
});

it.each(['', 'node_modules', '.forge/forge.db\n*.log', '\r\n'])(
  'leaves %j as it was, byte for byte',
  async (text) => {
    await using folder = await tempFolder();
    const paths = toPaths(folder.path);
    const file = join(folder.path, '.gitignore');
    writeFileSync(file, text);
    addIgnoreLines(paths, []);
    addIgnoreLines(paths, []);
    expect(readFileSync(file, 'utf8')).not.toBe(text);
    expect(removeIgnoreLines(paths)).toBe(true);
    expect(readFileSync(file, 'utf8')).toBe(text);
  },
);

it('takes only the lines where somebody wrote to the file meanwhile, and the file where it made it', async () => {
  await using folder = await tempFolder();
  const paths = toPaths(folder.path);
  const file = join(folder.path, '.gitignore');
  addIgnoreLines(paths, []);
  expect(removeIgnoreLines(paths)).toBe(true);
  expect(existsSync(file)).toBe(false);
  writeFileSync(file, 'mine');
  addIgnoreLines(paths, []);
  writeFileSync(file, `${readFileSync(file, 'utf8')}later\n`);
  expect(removeIgnoreLines(paths)).toBe(true);
  expect(readFileSync(file, 'utf8')).toBe('mine\nlater\n');
  expect(removeIgnoreLines(paths)).toBe(false);
});
