import { ForgeError, isForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { RecentValues } from '#kernel/recent-values.ts';
import { gitEnvironment } from './git-environment.ts';
import { GIT_FLOOR, GIT_HINT, runGit } from './run-git.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** `2.39.5`; what comes after the numbers depends on who built it. */
export async function readGitVersion(cwd: string, env: Env): Promise<string> {
  const { stdout } = await runGit(['--version'], { cwd, env: gitEnvironment(env) });
  return /(?<!\d)\d{1,9}(?:\.\d{1,9}){1,9}/.exec(stdout)?.[0] ?? UNKNOWN;
}

/** A git that tells no version is not judged. */
const UNKNOWN = '0.0';

export function isGitTooOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return (
    version !== UNKNOWN && (major < GIT_FLOOR.major || (major === GIT_FLOOR.major && minor < GIT_FLOOR.minor))
  );
}

/** Versions that were new enough, by the PATH on which git is found. */
const seen = new RecentValues<string>(LIMITS.git_answers.kept);

/**
 * For the start of what needs git: throws dependency_missing where it is too old. Starts git once in a process; one that
 * was too old is asked again each time, because it may have been updated. Where there is no git at all, what needs it
 * says so itself.
 */
export async function refuseOldGit(cwd: string, env: Env): Promise<void> {
  const key = env['PATH'] ?? '';
  if (seen.get(key) !== undefined) return;
  const version = await readGitVersion(cwd, env).catch(ignoreMissing);
  if (isGitTooOld(version))
    throw new ForgeError('dependency_missing', `git ${version} is too old for Forge`, {
      hint: GIT_HINT,
      details: { version, needed: `${GIT_FLOOR.major}.${GIT_FLOOR.minor}` },
    });
  if (version !== UNKNOWN) seen.set(key, version);
}

function ignoreMissing(error: unknown): string {
  if (isForgeError(error) && error.code === 'dependency_missing') return UNKNOWN;
  throw error;
}
