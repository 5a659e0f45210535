import { afterAll, beforeAll, expect, it } from 'vitest';
import { tempRepo, type TempRepo } from '../../tests/support/temp-repo.ts';
import { join } from 'node:path';
import { listChanges, readPatch } from './list-changes.ts';

let repo: TempRepo;
let range: { base: string; head: string };
beforeAll(async () => {
  repo = await tempRepo();
  await repo.write('kept.txt', 'kept\n');
  await repo.write('gone.txt', 'one\ntwo\n');
  await repo.write('moved.txt', 'the same\n');
  const base = commit('first');
  repo.git('rm', '-q', 'gone.txt');
  repo.git('mv', 'moved.txt', 'elsewhere.txt');
  await repo.write('odd\tname ü.txt', 'odd\n');
  await repo.write('picture', '\u0000\u0001');
  await repo.write('.gitattributes', '*.txt diff=nowhere\n');
  range = { base, head: commit('second') };
});
afterAll(() => repo[Symbol.asyncDispose]());

function commit(message: string): string {
  repo.git('add', '-A');
  repo.git('commit', '-qm', message);
  return repo.git('rev-parse', 'HEAD');
}

const here = () => ({
  worktree: repo.path,
  git_dir: join(repo.path, '.git'),
  common_dir: join(repo.path, '.git'),
});

it('lists every file that differs, with its lines and what it holds', async () => {
  const changes = await listChanges(here(), range);
  const shown = changes.map(({ path, insertions, deletions }) => `${path} +${insertions} -${deletions}`);
  expect(shown).toEqual([
    '.gitattributes +1 -0',
    'elsewhere.txt +1 -0',
    'gone.txt +0 -2',
    'moved.txt +0 -1',
    'odd\tname ü.txt +1 -0',
    'picture +null -null',
  ]);
  const blob = (path: string): string | undefined => changes.find((one) => one.path === path)?.blob;
  expect(blob('elsewhere.txt')).toBe(repo.git('rev-parse', 'HEAD:elsewhere.txt'));
  expect(blob('gone.txt')).toMatch(/^0+$/);
  expect(await listChanges(here(), { base: range.head, head: range.head })).toEqual([]);
});

it('shows a patch up to a length, and says how much is missing', async () => {
  const whole = await readPatch(here(), range, 100_000);
  expect(whole).toContain('+the same');
  const cut = await readPatch(here(), range, 20);
  expect(cut).toBe(`${whole.slice(0, 20)}\n… ${whole.length - 20} more characters`);
});

it('[S2-F12] shows in a patch what attributes hide, and what a terminal would hide', async () => {
  await repo.write('.gitattributes', '*.txt -diff\nkept.txt binary\n');
  await repo.write('kept.txt', 'evil \u202e\u001b[31m\n');
  await repo.write('nul.txt', 'a\u0000b\n');
  const patch = await readPatch(here(), { base: range.head, head: commit('hidden') }, 100_000);
  expect(patch).toContain(String.raw`+evil \u202e\u001b[31m`);
  expect(patch).toContain(String.raw`+a\u0000b`);
  expect(patch).not.toContain('Binary files');
});
