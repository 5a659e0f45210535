import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { tempRepo } from '../../tests/support/temp-repo.ts';
import { keepControl } from './keep-control.ts';

it('opens the control directory once in a while, and again when that is over or something else is asked for', async () => {
  await using repo = await tempRepo();
  let now = 1_000;
  const open = keepControl({ ...toPlace(repo.path), clock: { now: () => now } }, { fresh_ms: 50 });
  const readName = async (): Promise<string | undefined> =>
    (await open([])).inherited.findLast(({ key }) => key === 'user.name')?.value;
  repo.git('config', 'user.name', 'Ann');
  const first = await open([]);
  repo.git('config', 'user.name', 'Bob');
  expect(await open([])).toBe(first);
  expect(await open(['.env'])).toMatchObject({ copied: ['.env'] });
  expect(await readName()).toBe('Bob');
  repo.git('config', 'user.name', 'Cleo');
  now += 49;
  expect(await readName()).toBe('Bob');
  now += 1;
  expect(await readName()).toBe('Cleo');
});

it('does not keep what could not be opened', async () => {
  await using repo = await tempRepo();
  const head = join(repo.path, '.git', 'HEAD');
  const open = keepControl(toPlace(repo.path));
  const text = readFileSync(head, 'utf8');
  rmSync(head);
  await expect(open([])).rejects.toMatchObject({ code: 'not_a_repository' });
  writeFileSync(head, text);
  expect(await open([])).toMatchObject({ copied: [] });
});

function toPlace(path: string): Parameters<typeof keepControl>[0] {
  const git_dir = join(path, '.git');
  return {
    repo: { worktree: path, git_dir, common_dir: git_dir, env: process.env },
    project: { name: 'demo', prefix: 'fg', root: path },
    clock: { now: () => 1_000 },
  };
}
