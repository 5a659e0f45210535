import { join } from 'node:path';
import { expect, it } from 'vitest';
import { tempRepo } from '../../tests/support/temp-repo.ts';
import { isAncestor, readCommitTree } from './read-commit.ts';

it.each([['sha1'], ['sha256']])(
  'says what git says, of %s commits that are files and of packed ones',
  async (format) => {
    await using place = await tempRepo();
    const path = join(place.path, 'inside');
    place.git('init', '--quiet', `--object-format=${format}`, path);
    const git = (...args: string[]): string =>
      place.git('-C', path, '-c', 'user.name=A', '-c', 'user.email=a@b', ...args);
    const repo = {
      worktree: path,
      git_dir: join(path, '.git'),
      common_dir: join(path, '.git'),
      env: process.env,
    };
    for (const subject of ['first', 'second', 'third'])
      git('commit', '--quiet', '--allow-empty', '-m', `${subject}\n\ntree 0000\nparent 1111`);
    git('checkout', '--quiet', '-b', 'side', 'HEAD~1');
    git('commit', '--quiet', '--allow-empty', '-m', 'side');
    git('merge', '--quiet', '--no-ff', '-m', 'both', '-');
    const commits = ['side', 'side^1', 'side^2', 'side~2', 'side~3'].map((name) => git('rev-parse', name));
    const check = async (): Promise<void> => {
      for (const commit of commits)
        expect(await readCommitTree(repo, commit)).toBe(git('rev-parse', `${commit}^{tree}`));
      const [both = '', one = '', other = '', , root = ''] = commits;
      const pairs = [
        [both, both],
        [one, both],
        [other, both],
        [root, both],
        [one, other],
        [both, one],
      ] as const;
      const found = await Promise.all(pairs.map(([a, b]) => isAncestor(repo, a, b)));
      expect(found).toEqual([true, true, true, true, false, false]);
    };
    await check();
    git('repack', '-a', '-d', '--quiet');
    await check();
    await expect(readCommitTree(repo, 'f'.repeat(commits[0]?.length ?? 40))).rejects.toMatchObject({
      code: 'io_failed',
    });
  },
);
