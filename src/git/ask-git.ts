import type { Repository } from './find-repository.ts';
import { gitEnvironment } from './git-environment.ts';
import { type ApartResult, runApart } from './run-apart.ts';
import {
  type GitResult,
  type GitRunOptions,
  runGit,
  runGitBytes,
  type StartedGit,
  startGit,
  streamGit,
  toGitFailure,
} from './run-git.ts';

/** A repository to work on, and whose environment to do it in (this process's own where it is left out). */
export interface GitRepo extends Repository {
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Added to the environment after it was cleaned: where git is to find what it would look for itself. */
  readonly git_env?: Readonly<Record<string, string>>;
  /** `name=value` each, stronger than any file of configuration. */
  readonly settings?: readonly string[];
  /** How long one git may take unless the question says otherwise. */
  readonly timeout_ms?: number;
}

export interface AskOptions {
  readonly input?: string | Uint8Array;
  readonly signal?: AbortSignal;
  readonly timeout_ms?: number;
  /** Added to the environment after it was cleaned: a private index. */
  readonly more_env?: Readonly<Record<string, string>>;
}

/** Runs git on the repository; the exit code is for the caller to read. */
export function askGit(repo: GitRepo, args: readonly string[], options: AskOptions = {}): Promise<GitResult> {
  return runGit(toArgs(repo, args, options), toRunOptions(repo, options));
}

/** The same in a session of its own, without a terminal, and ended with all that it started when its time is over. */
export function askGitApart(
  repo: GitRepo,
  args: readonly string[],
  options: AskOptions & { readonly timeout_ms: number },
): Promise<ApartResult> {
  const { cwd, env, input = '', signal } = toRunOptions(repo, options);
  return runApart('git', toArgs(repo, args, options), {
    cwd,
    env: env ?? {},
    input,
    timeout_ms: options.timeout_ms,
    ...(signal && { signal }),
  });
}

/** The same for bytes. */
export function askGitBytes(
  repo: GitRepo,
  args: readonly string[],
  options: AskOptions = {},
): ReturnType<typeof runGitBytes> {
  return runGitBytes(toArgs(repo, args, options), toRunOptions(repo, options));
}

/** What git prints, without the last newline; throws io_failed with git's words when it fails. */
export async function getFromGit(
  repo: GitRepo,
  args: readonly string[],
  options: AskOptions = {},
): Promise<string> {
  const result = await askGit(repo, args, options);
  if (result.exit !== 0) throw toGitFailure(args, result);
  return result.stdout.replace(/\n$/, '');
}

/** What git prints, cut at NUL bytes, as it comes. */
export function streamFromGit(
  repo: GitRepo,
  args: readonly string[],
  options: AskOptions = {},
): AsyncGenerator<string> {
  return streamGit(toArgs(repo, args, options), toRunOptions(repo, options));
}

/** For a conversation with one process; disposing of it ends it. */
export function startWithGit(repo: GitRepo, args: readonly string[], options: AskOptions = {}): StartedGit {
  return startGit(toArgs(repo, args, options), toRunOptions(repo, options));
}

/**
 * No hook runs in what Forge does by itself, nor a file-system monitor that a repository names; nothing is packed or
 * pruned on the way. The ref locks are waited for because others commit at the same time, and the default of 100 ms
 * is shorter than a loaded machine takes.
 */
const SETTINGS: readonly string[] = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.quotePath=false',
  'core.filesRefLockTimeout=10000',
  'core.packedRefsTimeout=10000',
  'gc.auto=0',
  'maintenance.auto=false',
  'i18n.commitEncoding=UTF-8',
  'i18n.logOutputEncoding=UTF-8',
  'log.showSignature=false',
].flatMap((setting) => ['-c', setting]);

/** A split index of ours would leave its shared part in the user's git directory. */
const PRIVATE_INDEX: readonly string[] = ['-c', 'core.splitIndex=false'];

function toArgs(repo: GitRepo, args: readonly string[], { more_env }: AskOptions): readonly string[] {
  const own = more_env?.['GIT_INDEX_FILE'] === undefined ? [] : PRIVATE_INDEX;
  const more = (repo.settings ?? []).flatMap((setting) => ['-c', setting]);
  return ['--no-pager', '--no-optional-locks', ...SETTINGS, ...own, ...more, ...args];
}

function toRunOptions(repo: GitRepo, options: AskOptions): GitRunOptions {
  const { input = '', signal, timeout_ms = repo.timeout_ms, more_env } = options;
  return {
    cwd: repo.worktree,
    env: { ...gitEnvironment(repo.env ?? process.env), ...repo.git_env, ...more_env },
    input,
    ...(signal && { signal }),
    ...(timeout_ms !== undefined && { timeout_ms }),
  };
}
