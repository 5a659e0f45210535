import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type GitPlace, gitPlace } from '../../tests/support/git-places.ts';
import { shareOf } from '../../tests/support/share-of.ts';
import { findOperationInProgress } from './operation-in-progress.ts';

/** Two branches whose only file conflicts. */
async function diverge(place: GitPlace): Promise<void> {
  place.git('checkout', '--quiet', '-b', 'side');
  for (const [branch, text] of [
    ['side', 'side\n'],
    ['work', 'work\n'],
  ] as const) {
    if (branch === 'work') place.git('checkout', '--quiet', '-b', 'work', 'HEAD~1');
    await place.write('a.txt', text);
    place.git('commit', '--quiet', '-a', '-m', branch);
  }
}

function attempt(place: GitPlace, ...args: string[]): void {
  expect(() => place.git(...args)).toThrow('Command failed');
}

const see = (place: GitPlace) => findOperationInProgress(place.repo.git_dir)?.name;

describe.each(shareOf(['sha1', 'linked worktree'] as const, 2))('findOperationInProgress in %s', (shape) => {
  it.each([
    ['merge', ['merge', 'side']],
    ['rebase', ['rebase', 'side']],
    ['rebase', ['rebase', '--apply', 'side']],
    ['cherry-pick', ['cherry-pick', 'side']],
    ['revert', ['revert', '--no-edit', 'side']],
  ] as const)('sees a %s that stopped (%j), and its end', async (name, args) => {
    await using place = await gitPlace(shape);
    await diverge(place);
    expect(see(place)).toBeUndefined();
    attempt(place, ...args);
    expect(see(place)).toBe(name);
    const { give_up = '' } = findOperationInProgress(place.repo.git_dir) ?? {};
    place.git(...give_up.split(' ').slice(1));
    expect(see(place)).toBeUndefined();
  });
});

describe('findOperationInProgress', () => {
  it('sees a rebase that stopped to be edited', async () => {
    await using place = await gitPlace();
    await diverge(place);
    attempt(place, '-c', 'sequence.editor=false', 'rebase', '-i', 'HEAD~1');
    expect(see(place)).toBeUndefined();
    attempt(place, 'rebase', '--exec', 'false', 'HEAD~1');
    expect(see(place)).toBe('rebase');
  });

  it('sees an am that stopped', async () => {
    await using place = await gitPlace();
    await diverge(place);
    place.git('format-patch', '--quiet', '-1', 'side', '-o', join(place.path, '..', 'patches'));
    attempt(place, 'am', join(place.path, '..', 'patches', '0001-side.patch'));
    expect(see(place)).toBe('am');
    place.git('am', '--abort');
    expect(see(place)).toBeUndefined();
  });

  it('sees a bisect', async () => {
    await using place = await gitPlace();
    await diverge(place);
    place.git('bisect', 'start');
    expect(see(place)).toBe('bisect');
    place.git('bisect', 'reset');
    expect(see(place)).toBeUndefined();
  });

  it.each(shareOf(['cherry-pick', 'revert'] as const, 2))(
    'sees a longer %s between two steps',
    async (name) => {
      await using place = await gitPlace();
      await diverge(place);
      const picked =
        name === 'revert' ? ['revert', '--no-edit', 'side', 'HEAD'] : ['cherry-pick', 'side', 'HEAD'];
      attempt(place, ...picked);
      expect(see(place)).toBe(name);
      // The conflicted step is committed by hand, which removes its own mark.
      place.git('add', 'a.txt');
      place.git('commit', '--quiet', '--allow-empty', '--no-edit', '-m', 'by hand');
      expect(see(place)).toBe(name);
      place.git(name, '--quit');
      expect(see(place)).toBeUndefined();
    },
  );

  it('belongs to one working tree alone', async () => {
    await using place = await gitPlace('linked worktree');
    await diverge(place);
    attempt(place, 'merge', 'side');
    expect(findOperationInProgress(place.repo.git_dir)?.name).toBe('merge');
    expect(findOperationInProgress(place.repo.common_dir)).toBeUndefined();
  });
});
