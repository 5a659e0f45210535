import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../../tests/support/temp-repo.ts';
import { makeWayTo, readInside } from './inside-folder.ts';

it('leads to files below a folder, and to nothing behind a link or outside', async () => {
  await using outside = await tempFolder();
  const folder = join(outside.path, 'folder');
  mkdirSync(folder);
  await outside.write('secret', 'secret');
  await outside.write('folder/a/file', 'mine');
  symlinkSync('..', join(folder, 'up'));
  symlinkSync('../secret', join(folder, 'link'));
  symlinkSync('nowhere', join(folder, 'dangling'));
  expect(readInside(folder, 'a/file')?.toString()).toBe('mine');
  expect(makeWayTo(folder, './a//file')).toBe(join(folder, 'a', 'file'));
  const wrong = ['up/secret', 'link', 'dangling', '../secret', 'a/../../secret', '.git/config', '', 'a'];
  for (const path of [...wrong, 'up/new/file', 'a/file/deeper'])
    expect([path, makeWayTo(folder, path), readInside(folder, path)]).toEqual([path, undefined, undefined]);
  expect(existsSync(join(outside.path, 'new'))).toBe(false);
  const made = makeWayTo(folder, 'b/c/new') ?? '';
  writeFileSync(made, 'new');
  expect(readInside(folder, 'b/c/new')?.toString()).toBe('new');
  expect(readInside(folder, 'b/c/other')).toBeUndefined();
});
