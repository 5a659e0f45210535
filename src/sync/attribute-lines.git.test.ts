import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { hookRepo } from '../../tests/support/hook-repo.ts';
import { addAttributeLines, ATTRIBUTE_LINES, removeAttributeLines } from './attribute-lines.ts';

const ALL = ATTRIBUTE_LINES.map((line) => `${line}\n`).join('');

it('makes git merge the task files with our driver, and check them out with LF everywhere', async () => {
  await using repo = await hookRepo();
  addAttributeLines(repo.paths, []);
  const files = ['.forge/tasks.jsonl', '.forge/history.jsonl', 'sub/.forge/tasks.jsonl'];
  expect(repo.git('check-attr', 'merge', 'text', 'eol', '--', ...files).split('\n')).toEqual([
    '.forge/tasks.jsonl: merge: forge',
    '.forge/tasks.jsonl: text: set',
    '.forge/tasks.jsonl: eol: lf',
    '.forge/history.jsonl: merge: forge',
    '.forge/history.jsonl: text: set',
    '.forge/history.jsonl: eol: lf',
    'sub/.forge/tasks.jsonl: merge: unspecified',
    'sub/.forge/tasks.jsonl: text: unspecified',
    'sub/.forge/tasks.jsonl: eol: unspecified',
  ]);
  repo.git('config', 'core.autocrlf', 'true');
  await repo.write('.forge/tasks.jsonl', '{}\n');
  await repo.write('other.txt', 'x\n');
  repo.git('add', '.');
  repo.git('commit', '-q', '-m', 'x');
  repo.git('rm', '-q', '--cached', '.forge/tasks.jsonl', 'other.txt');
  repo.git('checkout', '-f', 'HEAD', '--', '.');
  expect(await repo.read('other.txt')).toBe('x\r\n');
  expect(await repo.read('.forge/tasks.jsonl')).toBe('{}\n');
});

it.each([
  ['*.png binary\n', `*.png binary\n${ALL}`],
  ['*.png binary', `*.png binary\n${ALL}`],
  ['* text\r\n', `* text\r\n${ALL.replaceAll('\n', '\r\n')}`],
  [ALL, ALL],
])('adds to %j once', async (before, after) => {
  await using repo = await hookRepo();
  await repo.write('.gitattributes', before);
  const undo: (() => void)[] = [];
  addAttributeLines(repo.paths, undo);
  addAttributeLines(repo.paths, undo);
  expect(await repo.read('.gitattributes')).toBe(after);
  for (const step of undo.toReversed()) step();
  expect(await repo.read('.gitattributes')).toBe(before);
});

it('takes the lines out again, and the file where it made it', async () => {
  await using repo = await hookRepo();
  addAttributeLines(repo.paths, []);
  expect(removeAttributeLines(repo.paths)).toBe(true);
  expect(existsSync(join(repo.path, '.gitattributes'))).toBe(false);
  expect(removeAttributeLines(repo.paths)).toBe(false);
});

it('refuses what git would not read', async () => {
  await using repo = await hookRepo();
  const file = join(repo.path, '.gitattributes');
  symlinkSync('elsewhere', file);
  expect(() => addAttributeLines(repo.paths, [])).toThrow('a symbolic link');
  expect(existsSync(join(repo.path, 'elsewhere'))).toBe(false);
  await using other = await hookRepo();
  mkdirSync(join(other.path, '.gitattributes'));
  expect(() => addAttributeLines(other.paths, [])).toThrow('not a file');
});
