import { askGit, type GitRepo } from './ask-git.ts';

/** Where git still finds what was let go of: `git reflog refs/forge/let-go`, for as long as it keeps reflogs. */
export const LET_GO = 'refs/forge/let-go';

/**
 * Deletes a ref that still is at this commit, and enters it in the reflog of one that stays, in one transaction: so the
 * commit is not pruned before the reflog's own time is over. False where the ref is at another commit, or gone.
 */
export async function letGoRef(
  repo: GitRepo,
  { ref, commit }: { readonly ref: string; readonly commit: string },
): Promise<boolean> {
  const args = ['update-ref', '--create-reflog', '-m', `forge: let go of ${ref}`, '--stdin'];
  const result = await askGit(repo, args, { input: `update ${LET_GO} ${commit}\ndelete ${ref} ${commit}\n` });
  return result.exit === 0;
}
