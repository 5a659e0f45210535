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
  if (await leadsTo(repo, tip, head)) return true;
  if ((await findNamedCommit(repo, { attempt_id, range: `${old}..${tip}` })) !== undefined) return true;
  return (await readCommitTree(repo, commit)) === (await readCommitTree(repo, tip));
}

/**
 * The commit that has what the attempt landed: `candidate`, or what a person has made of it since, which names the
 * attempt. Undefined where `tip` has neither.
 */
export async function findLandedCommit(
  repo: GitRepo,
  landed: {
    readonly attempt_id: string;
    readonly candidate: string;
    readonly tip: string;
    /** What `tip` had before. */
    readonly since?: string;
  },
): Promise<string | undefined> {
  const { attempt_id, candidate, tip, since } = landed;
  if (await leadsTo(repo, tip, candidate)) return candidate;
  return findNamedCommit(repo, { attempt_id, range: since === undefined ? tip : `${since}..${tip}` });
}

/** False also where the repository does not have the commit any more. */
async function leadsTo(repo: GitRepo, tip: string, commit: string): Promise<boolean> {
  const result = await askGit(repo, ['merge-base', '--is-ancestor', '--end-of-options', commit, tip]);
  return result.exit === 0;
}

/**
 * The last commit of a range that names the attempt in its trailers: words in a subject or in the text of a message are
 * none. A trailer is what its writer says, so only attempts are looked for that the store knows to have landed, or to
 * have been about to.
 */
async function findNamedCommit(
  repo: GitRepo,
  { attempt_id, range }: { readonly attempt_id: string; readonly range: string },
): Promise<string | undefined> {
  const named = ['--fixed-strings', `--grep=Forge-Attempt: ${attempt_id}`];
  const format = '--format=%H %(trailers:key=Forge-Attempt,valueonly,unfold,separator=%x20)';
  const text = await getFromGit(repo, ['log', format, ...named, range, '--']);
  for (const line of text.split('\n')) {
    const [commit, ...ids] = line.split(' ');
    if (ids.includes(attempt_id)) return commit;
  }
  return undefined;
}
