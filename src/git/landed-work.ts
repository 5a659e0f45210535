import { askGit, getFromGit, type GitRepo } from './ask-git.ts';
import { isAncestor, readCommitTree } from './read-commit.ts';
import { readRef } from './read-ref.ts';

/** What was landed, and what it was made of. */
export interface LandedWork {
  readonly branch: string;
  /** Where the branch was before. */
  readonly old: string;
  readonly commit: string;
  /** The attempt's own last commit. */
  readonly head: string;
  readonly attempt_id: string;
}

/**
 * Whether the branch has the work, also where the user has amended or rebased the landed commit since: by the attempt's
 * own commit, by a commit after `old` that names the attempt, or by the same tree. False where it was taken back.
 */
export async function hasWork(repo: GitRepo, work: LandedWork): Promise<boolean> {
  const { branch, old, commit, head, attempt_id } = work;
  const tip = await readRef(repo, `refs/heads/${branch}`);
  if (tip === undefined) return false;
  if (await isAncestor(repo, commit, tip)) return true;
  // After a squash the repository need not have it at all.
  const isHead = await askGit(repo, ['merge-base', '--is-ancestor', '--end-of-options', head, tip]);
  if (isHead.exit === 0) return true;
  const named = ['--fixed-strings', `--grep=Forge-Attempt: ${attempt_id}`];
  const args = ['log', '-1', '--format=%H', ...named, `${old}..${tip}`, '--'];
  if ((await getFromGit(repo, args)) !== '') return true;
  return (await readCommitTree(repo, commit)) === (await readCommitTree(repo, tip));
}
