import type { Attempt } from '#contract/attempt.ts';
import type { GitRepo } from '#git/ask-git.ts';
import { findMergeBase } from '#git/merge-base.ts';
import { isAncestor } from '#git/read-commit.ts';
import { readRef } from '#git/read-ref.ts';
import { isForgeError } from '#kernel/errors.ts';

type Based = Pick<Attempt, 'target' | 'base_commit' | 'head_commit'>;

/**
 * The commit that the work of an attempt is compared with: the last commit that it shares with its target, as
 * `git diff target...branch` has it. That is the commit on which the attempt began until the target is merged into the
 * attempt, and never an older one.
 */
export async function findWorkBase(
  repo: GitRepo,
  { target, base_commit, head_commit }: Based,
): Promise<string> {
  if (head_commit === null || head_commit === base_commit) return base_commit;
  const tip = await readRef(repo, `refs/heads/${target}`);
  if (tip === undefined || tip === base_commit) return base_commit;
  try {
    const shared = await findMergeBase(repo, tip, head_commit);
    if (shared === undefined || shared === base_commit) return base_commit;
    return (await isAncestor(repo, base_commit, shared)) ? shared : base_commit;
  } catch (error) {
    // Commits that are not in this clone: the caller says so, where it reads them.
    if (!isForgeError(error)) throw error;
    return base_commit;
  }
}
