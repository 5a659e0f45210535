import { describe, expect, it } from 'vitest';
import { type GitPlace, gitPlace } from '../../tests/support/git-places.ts';
import { hasWork, type LandedWork } from './landed-work.ts';

/** An attempt of one commit beside main, landed in one of the ways. */
async function openLanded(strategy: 'merge' | 'squash'): Promise<GitPlace & { readonly work: LandedWork }> {
  const place = await gitPlace();
  const old = place.git('rev-parse', 'HEAD');
  place.git('checkout', '--quiet', '--detach');
  await place.write('new.txt', 'new\n');
  place.git('add', '.');
  place.git('commit', '--quiet', '-m', 'by the agent\n\nForge-Attempt: at-1');
  const head = place.git('rev-parse', 'HEAD');
  place.git('checkout', '--quiet', 'main');
  const message = 'landed\n\nForge-Attempt: at-1';
  if (strategy === 'merge') place.git('merge', '--quiet', '--no-ff', '-m', message, head);
  else {
    place.git('merge', '--quiet', '--squash', head);
    place.git('commit', '--quiet', '-m', message);
  }
  const commit = place.git('rev-parse', 'HEAD');
  return { ...place, work: { branch: 'main', old, commit, head, attempt_id: 'at-1' } };
}

describe.each(['merge', 'squash'] as const)('[B13] hasWork after a %s', (strategy) => {
  it.each<[string, (place: GitPlace) => unknown, boolean]>([
    ['as it is', () => undefined, true],
    [
      'amended with the same message',
      (place) => place.git('commit', '--amend', '--reset-author', '--no-edit'),
      true,
    ],
    ['amended with another message', (place) => place.git('commit', '--amend', '-m', 'mine'), true],
    [
      'amended with another file',
      async (place) => {
        await place.write('mine.txt', 'mine\n');
        place.git('add', '.');
        place.git('commit', '--amend', '--no-edit');
      },
      true,
    ],
    ['taken back', (place) => place.git('reset', '--quiet', '--hard', 'HEAD~1'), false],
    [
      'on a branch that is gone',
      (place) => (place.git('checkout', '--quiet', '--detach'), place.git('branch', '-D', 'main')),
      false,
    ],
  ])('%s', async (_name, change, wanted) => {
    await using place = await openLanded(strategy);
    await change(place);
    expect(await hasWork(place.repo, place.work)).toBe(wanted);
  });
});
