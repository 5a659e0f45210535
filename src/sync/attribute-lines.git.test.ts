import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { hookRepo } from '../../tests/support/hook-repo.ts';
import { listAltering } from './altering-attributes.ts';
import {
  addAttributeLines,
  addCloneAttributes,
  ATTRIBUTE_LINES,
  moveAttributeLinesLast,
  removeAttributeLines,
  renewCloneAttributes,
} from './attribute-lines.ts';
import { toGitRepo } from './machine.ts';
import { TASKS_PATH } from './task-files.ts';

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

const FORMER = ['tasks', 'history'].map((name) => `.forge/${name}.jsonl merge=forge text eol=lf\n`).join('');
const LFS = '*.jsonl filter=lfs diff=lfs merge=lfs -text ident working-tree-encoding=UTF-16\n';
const ASKED = ['check-attr', 'filter', 'ident', 'working-tree-encoding', 'merge', 'text', '--', TASKS_PATH];

it('switches off what a line before makes git change in the task files: a filter, an encoding, ident', async () => {
  await using repo = await hookRepo();
  await repo.write('.gitattributes', LFS);
  addAttributeLines(repo.paths, []);
  expect(repo.git(...ASKED).split('\n')).toEqual([
    '.forge/tasks.jsonl: filter: unset',
    '.forge/tasks.jsonl: ident: unset',
    '.forge/tasks.jsonl: working-tree-encoding: unspecified',
    '.forge/tasks.jsonl: merge: forge',
    '.forge/tasks.jsonl: text: set',
  ]);
  expect(repo.git('check-attr', 'filter', '--', 'data.jsonl')).toBe('data.jsonl: filter: lfs');
});

it('puts its lines in the place of those of an older version, and takes both out again', async () => {
  await using repo = await hookRepo();
  await repo.write('.gitattributes', `*.png binary\n${FORMER}${LFS}`);
  const undo: (() => void)[] = [];
  addAttributeLines(repo.paths, undo);
  expect(await repo.read('.gitattributes')).toBe(`*.png binary\n${LFS}${ALL}`);
  for (const step of undo.toReversed()) step();
  expect(await repo.read('.gitattributes')).toBe(`*.png binary\n${FORMER}${LFS}`);
  expect(removeAttributeLines(repo.paths)).toBe(true);
  expect(await repo.read('.gitattributes')).toBe(`*.png binary\n${LFS}`);
});

it('writes the lines of the own attributes of a clone anew where an older version wrote them, and only there', async () => {
  await using repo = await hookRepo();
  mkdirSync(join(repo.path, '.git/info'), { recursive: true });
  renewCloneAttributes(repo.paths);
  expect(existsSync(join(repo.path, '.git/info/attributes'))).toBe(false);
  await repo.write('.git/info/attributes', FORMER);
  renewCloneAttributes(repo.paths);
  expect(await repo.read('.git/info/attributes')).toBe(ALL);
});

it.each([
  ['.gitattributes', '*.jsonl filter=lfs\n', false],
  ['.forge/.gitattributes', '*.jsonl filter=lfs\n', false],
  ['.git/info/attributes', '*.jsonl filter=lfs\n', true],
])('tells a filter that stands behind its lines in %s', async (file, line, here) => {
  await using repo = await hookRepo();
  addAttributeLines(repo.paths, []);
  addCloneAttributes(repo.paths);
  expect(await listAltering(toGitRepo(repo.path, { env: process.env }))).toEqual([]);
  mkdirSync(join(repo.path, '.forge'), { recursive: true });
  const before = existsSync(join(repo.path, file)) ? await repo.read(file) : '';
  await repo.write(file, `${before}${line}`);
  const found = await listAltering(toGitRepo(repo.path, { env: process.env }));
  expect(found).toEqual([
    { path: '.forge/tasks.jsonl', attribute: 'filter=lfs', here },
    { path: '.forge/history.jsonl', attribute: 'filter=lfs', here },
  ]);
  moveAttributeLinesLast(repo.paths);
  const left = await listAltering(toGitRepo(repo.path, { env: process.env }));
  expect(left).toHaveLength(file.startsWith('.forge') ? 2 : 0);
});
