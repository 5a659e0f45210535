import { escapeLine } from '#kernel/text.ts';
import { askGit, type GitRepo } from './ask-git.ts';
import { readRef } from './read-ref.ts';
import { type GitResult, toShownStderr } from './run-git.ts';

interface RemoteBranch {
  readonly repo: GitRepo;
  readonly remote: string;
  readonly branch: string;
  readonly signal?: AbortSignal;
}

export interface Problem {
  /** Not there or no network; who asks may not; the server's rules or hooks said no. */
  readonly outcome: 'unreachable' | 'denied' | 'refused';
  readonly reason: string;
}

export type Fetched =
  | { readonly outcome: 'fetched'; readonly commit: string | undefined }
  | { readonly outcome: 'absent' }
  /** With what the remote had when it was last seen. */
  | (Problem & { readonly commit: string | undefined });

/** Fetches the one branch into its remote-tracking ref, and nothing else: no tags, no FETCH_HEAD. */
export async function fetchBranch({ repo, remote, branch, signal }: RemoteBranch): Promise<Fetched> {
  const tracking = toTrackingRef(remote, branch);
  const only = ['--quiet', '--no-tags', '--no-write-fetch-head', '--no-recurse-submodules', '--no-prune'];
  // A branch that was rewritten there is fetched as well: its history is joined with ours like any other.
  const refspec = `+refs/heads/${branch}:${tracking}`;
  const result = await askGit(repo, ['fetch', ...only, '--end-of-options', remote, refspec], {
    ...(signal && { signal }),
  });
  if (result.exit === 0) return { outcome: 'fetched', commit: await readRef(repo, tracking) };
  if (/couldn't find remote ref/i.test(result.stderr)) return { outcome: 'absent' };
  // Two fetches of one clone at once: the other one has just written what this one wanted to write.
  if (/cannot lock ref|unable to update local ref/i.test(result.stderr)) {
    return { outcome: 'fetched', commit: await readRef(repo, tracking) };
  }
  return { ...toProblem('fetch from', remote, result), commit: await readRef(repo, tracking) };
}

/** Fetches what this clone fetches of the remote by its settings; every branch where they name none. */
export async function fetchRemote({
  repo,
  remote,
}: Pick<RemoteBranch, 'repo' | 'remote'>): Promise<'fetched' | Problem> {
  const only = ['--quiet', '--no-tags', '--no-write-fetch-head', '--no-recurse-submodules', '--no-prune'];
  const settings = await askGit(repo, ['config', '--get-all', `remote.${remote}.fetch`]);
  const refspecs = settings.exit === 0 ? [] : [`+refs/heads/*:${toTrackingRef(remote, '*')}`];
  const result = await askGit(repo, ['fetch', ...only, '--end-of-options', remote, ...refspecs]);
  // Two fetches of one clone at once: the other one has just written what this one wanted to write.
  if (result.exit === 0 || /cannot lock ref|unable to update local ref/i.test(result.stderr))
    return 'fetched';
  return toProblem('fetch from', remote, result);
}

/** `lost` when the remote has moved since it was fetched: fetch and join again. */
export async function pushBranch(
  push: RemoteBranch & { readonly commit: string },
): Promise<'pushed' | 'lost' | Problem> {
  const { repo, remote, branch, commit, signal } = push;
  const only = ['--porcelain', '--no-verify', '--no-follow-tags', '--recurse-submodules=no'];
  const args = ['push', ...only, '--end-of-options', remote, `${commit}:refs/heads/${branch}`];
  const result = await askGit(repo, args, { ...(signal && { signal }) });
  if (result.exit === 0) {
    // git does this itself only where the user's fetch settings cover the branch.
    await askGit(repo, ['update-ref', toTrackingRef(remote, branch), commit]);
    return 'pushed';
  }
  const said = /^!\t[^\t]*\t(.*)$/m.exec(result.stdout)?.[1];
  if (said === undefined) return toProblem('push to', remote, result);
  if (LOST.test(said)) return 'lost';
  const told = toShownStderr(readRemoteLines(result.stderr));
  const reason = `${remote} refused the push of ${branch}: ${escapeLine(said)}${told === '' ? '' : ` / ${told}`}`;
  return { outcome: 'refused', reason };
}

/** What git here or there says when the branch is not where it was expected: another push came in between. */
const LOST =
  /^\[rejected\]|fetch first|non-fast-forward|stale info|cannot lock ref|failed to update ref|incorrect old value|reference already exists/i;
const DENIED =
  /permission|denied|forbidden|\b40[13]\b|authentication|could not read (?:username|password)|host key|publickey/i;

function toProblem(verb: string, remote: string, result: GitResult): Problem {
  const outcome = DENIED.test(result.stderr) ? 'denied' : 'unreachable';
  const said = toShownStderr(result.stderr) || `git ended with ${result.exit}`;
  const start = outcome === 'denied' ? `You may not ${verb} ${remote}` : `Could not ${verb} ${remote}`;
  return { outcome, reason: `${start}: ${said}` };
}

function readRemoteLines(stderr: string): string {
  return [...stderr.matchAll(/^remote: ?(.*)$/gm)].map(([, line]) => line).join('\n');
}

function toTrackingRef(remote: string, branch: string): string {
  return `refs/remotes/${remote}/${branch}`;
}
