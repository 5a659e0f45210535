import { LIMITS } from '#kernel/limits.ts';
import { askGit, getFromGit, type GitRepo } from './ask-git.ts';
import { toGitFailure } from './run-git.ts';

/** A file as the tip of a branch has it. */
export interface BranchFile {
  /** In full: `refs/remotes/origin/main`. */
  readonly ref: string;
  readonly commit: string;
  /** Branches that have the same bytes have the same one. */
  readonly blob: string;
}

/**
 * The branches below `refs` (`refs/heads`, `refs/remotes/origin`) that have a file at this path, those that moved last
 * first. Two processes, however many branches there are; nothing is fetched.
 */
export async function listBranchFiles(
  repo: GitRepo,
  refs: readonly string[],
  path: string,
): Promise<readonly BranchFile[]> {
  const format = '--format=%(objectname) %(refname)';
  const count = `--count=${LIMITS.branches_searched}`;
  const text = await getFromGit(repo, ['for-each-ref', '--sort=-committerdate', count, format, ...refs]);
  const tips = text.split('\n').flatMap((line) => {
    const [, commit, ref] = /^([0-9a-f]+) (.+)$/.exec(line) ?? [];
    return commit === undefined || ref === undefined ? [] : [{ commit, ref }];
  });
  if (tips.length === 0) return [];
  const input = tips.map(({ commit }) => `${commit}:${path}\n`).join('');
  const args = ['cat-file', '--batch-check=%(objecttype) %(objectname)'];
  const result = await askGit(repo, args, { input });
  if (result.exit !== 0) throw toGitFailure(args, result);
  const answers = result.stdout.split('\n');
  return tips.flatMap((tip, at) => {
    const [, blob] = /^blob ([0-9a-f]+)$/.exec(answers[at] ?? '') ?? [];
    return blob === undefined ? [] : [{ ...tip, blob }];
  });
}
