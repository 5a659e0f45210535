import { escapeLine } from '#kernel/text.ts';
import { askGit, askGitApart, getFromGit, type GitRepo } from './ask-git.ts';
import { findProtectiveHooks } from './protective-hooks.ts';
import { isAncestor } from './read-commit.ts';
import { readRef } from './read-ref.ts';
import { toShownStderr } from './run-git.ts';

/** Where a branch is pushed to, as the user has set it up. */
export interface Upstream {
  readonly remote: string;
  /** The branch there: `refs/heads/main`. */
  readonly ref: string;
  /** `refs/remotes/origin/main`: what was last seen of it. */
  readonly tracking: string;
}

export async function findUpstream(repo: GitRepo, branch: string): Promise<Upstream | undefined> {
  const format = '--format=%(upstream:remotename)%00%(upstream:remoteref)%00%(upstream)';
  const text = await getFromGit(repo, ['for-each-ref', format, `refs/heads/${branch}`]);
  const [remote = '', ref = '', tracking = ''] = text.split('\n', 1)[0]?.split('\0') ?? [];
  // A branch may follow another one of the same repository, which nobody pushes to.
  return remote === '' || remote === '.' || ref === '' ? undefined : { remote, ref, tracking };
}

export type PushOutcome =
  | { readonly kind: 'pushed'; readonly upstream: Upstream }
  | { readonly kind: 'failed'; readonly why: string; readonly next: string };

/**
 * Pushes one commit of the branch to where the branch follows: the user's remote, credentials and `pre-push` hook. Nobody
 * is asked anything, and what takes too long is ended. Never rejects for what the other side says.
 */
export async function pushTarget(
  repo: GitRepo,
  { branch, commit }: { readonly branch: string; readonly commit: string },
  { timeout_ms, signal }: { readonly timeout_ms: number; readonly signal?: AbortSignal },
): Promise<PushOutcome> {
  const upstream = await findUpstream(repo, branch);
  if (upstream === undefined) {
    const remote = (await getFromGit(repo, ['remote'])).split('\n').find((name) => name !== '') ?? 'origin';
    const next = `git push --set-upstream ${remote} ${branch}`;
    return { kind: 'failed', why: `${branch} follows no branch of a remote`, next };
  }
  if (await isThere(repo, upstream, commit)) return { kind: 'pushed', upstream };
  const { folder } = await findProtectiveHooks(repo);
  const own: GitRepo = { ...repo, settings: [...(repo.settings ?? []), `core.hooksPath=${folder}`] };
  const only = ['--porcelain', '--no-follow-tags', '--recurse-submodules=no'];
  const args = ['push', ...only, '--end-of-options', upstream.remote, `${commit}:${upstream.ref}`];
  const more_env = { SSH_ASKPASS_REQUIRE: 'never', ...(await toSshEnv(repo)) };
  const result = await askGitApart(own, args, { more_env, timeout_ms, ...(signal && { signal }) });
  if (result.exit === 0) return { kind: 'pushed', upstream };
  const told = toShownStderr(readRemoteLines(result.stderr));
  const said = /^!\t[^\t]*\t(.*)$/m.exec(result.stdout)?.[1];
  const isBehind = said !== undefined && /fetch first|non-fast-forward|stale info/.test(said);
  const next = `git push ${upstream.remote} ${branch}`;
  if (result.timed_out)
    return { kind: 'failed', why: `the push did not end within ${timeout_ms / 1_000} s`, next };
  if (said === undefined)
    return {
      kind: 'failed',
      why: `the push failed: ${toShownStderr(result.stderr) || `exit ${result.exit}`}`,
      next,
    };
  const why = `the push was rejected: ${escapeLine(said)}${told === '' ? '' : ` / ${told}`}`;
  return { kind: 'failed', why, next: isBehind ? `git pull ${upstream.remote} ${branch} && ${next}` : next };
}

/** Somebody has pushed it by hand, or with a later commit. */
async function isThere(repo: GitRepo, { tracking }: Upstream, commit: string): Promise<boolean> {
  const seen = await readRef(repo, tracking);
  return seen !== undefined && isAncestor(repo, commit, seen);
}

/** ssh asks for nothing, unless the user has a program of their own in its place, which is theirs to set up. */
async function toSshEnv(repo: GitRepo): Promise<Readonly<Record<string, string>>> {
  const env = repo.env ?? process.env;
  if (env['GIT_SSH_COMMAND'] !== undefined || env['GIT_SSH'] !== undefined) return {};
  const set = await askGit(repo, ['config', '--get', 'core.sshCommand']);
  return set.exit === 0 ? {} : { GIT_SSH_COMMAND: 'ssh -o BatchMode=yes -o ConnectTimeout=20' };
}

function readRemoteLines(stderr: string): string {
  return [...stderr.matchAll(/^remote: ?(.*)$/gm)].map(([, line]) => line).join('\n');
}

/** How many commits the branch has that were not seen at its upstream; undefined where it follows none. */
export async function countAhead(
  repo: GitRepo,
  branch: string,
): Promise<{ readonly count: number; readonly upstream: Upstream } | undefined> {
  const upstream = await findUpstream(repo, branch);
  if (upstream === undefined) return undefined;
  const range = ['rev-list', '--count', `refs/heads/${branch}`, '--not', upstream.tracking];
  const result = await askGit(repo, range);
  return result.exit === 0 ? { count: Number(result.stdout.trim()), upstream } : undefined;
}
