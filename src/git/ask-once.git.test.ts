import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { LIMITS } from '#kernel/limits.ts';
import { tempRepo } from '../../tests/support/temp-repo.ts';
import { askOnce } from './ask-once.ts';
import { findRepository } from './find-repository.ts';

async function repoWith(text: string) {
  const temp = await tempRepo();
  await temp.write('a.txt', text);
  temp.git('add', '.');
  temp.git('commit', '--quiet', '-m', 'first');
  const repo = findRepository(temp.path);
  if (repo === undefined) throw new Error('there is no repository');
  const blob = temp.git('rev-parse', 'HEAD:a.txt');
  const read = async (name: string) => {
    const { stdout, exit } = await askOnce(repo, [name], ['cat-file', 'blob', name]);
    return exit === 0 ? stdout.toString('utf8') : exit;
  };
  const lose = (name: string): void =>
    rmSync(join(temp.path, '.git', 'objects', name.slice(0, 2), name.slice(2)));
  return { temp, blob, read, lose };
}

it('what an object says is asked for once', async () => {
  const { temp, blob, read, lose } = await repoWith('one\n');
  await using _ = temp;
  expect(await read(blob)).toBe('one\n');
  lose(blob);
  expect(await read(blob)).toBe('one\n');
});

it('a branch, an object that is not there yet, and one that is too large are asked for each time', async () => {
  const large = `${'x'.repeat(LIMITS.git_answers.bytes)}\n`;
  const { temp, blob, read, lose } = await repoWith(large);
  await using _ = temp;
  expect(await read(blob)).toBe(large);
  lose(blob);
  expect(await read(blob)).toBe(128);
  await temp.write('a.txt', large);
  temp.git('hash-object', '-w', 'a.txt');
  expect(await read(blob)).toBe(large);
  await temp.write('b.txt', 'two\n');
  const two = temp.git('hash-object', 'b.txt');
  expect(await read(two)).toBe(128);
  temp.git('hash-object', '-w', 'b.txt');
  expect(await read(two)).toBe('two\n');
  temp.git('update-ref', 'refs/heads/other', temp.git('rev-parse', 'HEAD'));
  expect(await read('other:a.txt')).toBe(large);
  lose(blob);
  expect(await read('other:a.txt')).toBe(128);
});
