import { askGit, type GitRepo } from './ask-git.ts';

/** Where two sides were the same last; undefined for histories that have nothing in common. */
export async function findMergeBase(
  repo: GitRepo,
  ours: string | undefined,
  theirs: string,
): Promise<string | undefined> {
  if (ours === undefined || ours === theirs) return ours;
  // Unrelated histories have none, and git answers that with 1.
  const { exit, stdout } = await askGit(repo, ['merge-base', ours, theirs]);
  return exit === 0 ? stdout.trim() : undefined;
}
