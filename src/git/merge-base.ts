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

/** Where the parents of a merge parted from the first one; several after merges in both directions. */
export async function findMergeBases(
  repo: GitRepo,
  [first, ...others]: readonly string[],
): Promise<readonly string[]> {
  const found = new Set<string>();
  for (const other of first === undefined ? [] : others) {
    const { exit, stdout } = await askGit(repo, ['merge-base', '--all', first ?? '', other]);
    for (const line of exit === 0 ? stdout.split('\n') : []) if (line !== '') found.add(line);
  }
  return [...found];
}
