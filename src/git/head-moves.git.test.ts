import { expect, it } from 'vitest';
import { tempRepo } from '../../tests/support/temp-repo.ts';
import { findRepository } from './find-repository.ts';
import { listHeadMoves } from './head-moves.ts';

it('tells where HEAD moved, when and by what, the newest first', async () => {
  await using repo = await tempRepo();
  const found = findRepository(repo.path);
  if (found === undefined) throw new Error('No repository');
  expect(await listHeadMoves(found, 10)).toEqual([]);
  repo.git('commit', '--quiet', '--allow-empty', '-m', 'one');
  const one = repo.git('rev-parse', 'HEAD');
  repo.git('commit', '--quiet', '--allow-empty', '-m', 'two');
  const two = repo.git('rev-parse', 'HEAD');
  repo.git('reset', '--quiet', '--soft', one);
  repo.git('update-ref', 'HEAD', two);
  const moves = await listHeadMoves(found, 10);
  expect(moves.map(({ commit, action }) => [commit, action])).toEqual([
    [two, ''],
    [one, `reset: moving to ${one}`],
    [two, 'commit: two'],
    [one, 'commit (initial): one'],
  ]);
  expect(moves.every(({ at }) => Math.abs(at - Date.now()) < 600_000)).toBe(true);
  expect(await listHeadMoves(found, 2)).toEqual(moves.slice(0, 2));
});
