import { lstatSync, readFileSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { ForgeError } from '#kernel/errors.ts';
import { toOutOfFilesError } from '#kernel/out-of-files.ts';
import { dropEnd } from '#kernel/text.ts';
import { findLastEntry, type GitConfigEntry, isTrue, parseGitConfig } from './parse-git-config.ts';

export interface Repository {
  /** Top folder of the working tree. */
  readonly worktree: string;
  /** What belongs to this working tree alone (HEAD, index). */
  readonly git_dir: string;
  /** What all working trees of the repository share; the same as `git_dir` unless this one is linked. */
  readonly common_dir: string;
  /** Where its own configuration says that it is an attempt's checkout, which anybody can write there. */
  readonly attempt?: AttemptClaim;
}

export interface AttemptClaim {
  /** The folder of the project that it is to belong to. */
  readonly project: string;
  readonly attempt_id: string;
}

/**
 * The repository whose working tree holds `cwd`, by file reads alone: every command starts here, and starting
 * git would take longer than the rest of it. Undefined outside a working tree, which includes `.git` itself
 * and bare repositories. Throws not_a_repository where a `.git` file leads nowhere, as git does.
 */
export function findRepository(cwd: string): Repository | undefined {
  let folder = resolve(cwd);
  for (;;) {
    const dotGit = join(folder, '.git');
    const found = look(dotGit);
    if (found?.isFile() === true) return openLinked(folder, dotGit);
    if (found?.isDirectory() === true && holdsHead(dotGit)) return openFolder(folder, dotGit);
    if (isGitFolder(folder)) return undefined;
    const parent = dirname(folder);
    if (parent === folder) return undefined;
    folder = parent;
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The same; outside of every repository the one that git's own variables name. The folder comes first, because hooks
 * set these variables and call commands in other repositories. Throws not_a_repository where the two do not belong
 * together: the gits that Forge starts would not find what the person means.
 */
export function findNamedRepository(cwd: string, env: Environment): Repository | undefined {
  const around = findRepository(cwd);
  const { GIT_DIR: gitDir = '', GIT_WORK_TREE: tree = '' } = env;
  if (around !== undefined || (gitDir === '' && tree === '')) return around;
  const folder = tree === '' ? dirname(resolve(cwd, gitDir)) : resolve(cwd, tree);
  const named = findRepository(folder);
  if (named !== undefined && (gitDir === '' || isSamePlace(named.git_dir, resolve(cwd, gitDir))))
    return named;
  if (tree === '') return undefined;
  throw new ForgeError(
    'not_a_repository',
    gitDir === ''
      ? `GIT_WORK_TREE (${tree}) is no working tree`
      : `GIT_DIR (${gitDir}) is not the repository of GIT_WORK_TREE (${tree})`,
    {
      hint: 'unset GIT_DIR GIT_WORK_TREE, and run the command in the working tree',
      details: { git_dir: gitDir, work_tree: tree },
    },
  );
}

/** The bare repository, or the git directory of another, that `cwd` is in: there is no working tree to put files into. */
export function findBareFolder(cwd: string): string | undefined {
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    if (isGitFolder(folder)) return folder;
    if (look(join(folder, '.git')) !== undefined) {
      const own = join(folder, '.git');
      return isGitFolder(own) ? own : undefined;
    }
    if (dirname(folder) === folder) return undefined;
  }
}

function isSamePlace(one: string, other: string): boolean {
  try {
    return realpathSync.native(one) === realpathSync.native(other);
  } catch {
    return false;
  }
}

function openLinked(folder: string, dotGit: string): Repository | undefined {
  // Newlines only: a path may begin or end with spaces.
  const [, target] = /^gitdir: (.+)$/s.exec(dropEnd(readText(dotGit) ?? '', '\r\n')) ?? [];
  if (target === undefined) throw brokenGitFile(dotGit, 'it does not say "gitdir: <path>"');
  // `..` in a relative path means the parent on disk, also where `cwd` came through a symbolic link.
  const gitDir = resolve(realpathSync.native(folder), target);
  if (!holdsHead(gitDir)) throw brokenGitFile(dotGit, `it points to ${gitDir}, which is not a git directory`);
  return openFolder(folder, gitDir);
}

function openFolder(folder: string, gitDir: string): Repository | undefined {
  const shared = readText(join(gitDir, 'commondir'));
  if (shared === undefined) return openOwn(folder, gitDir);
  const commonDir = resolve(gitDir, dropEnd(shared, '\r\n'));
  if (!holdsHead(commonDir)) {
    throw brokenGitFile(join(gitDir, 'commondir'), `it points to ${commonDir}, which is not a git directory`);
  }
  return { worktree: folder, git_dir: gitDir, common_dir: commonDir };
}

/**
 * The folder around a git directory is its working tree unless the configuration says that there is none
 * (`core.bare`: the hub of a group of linked worktrees) or that it is elsewhere (`core.worktree`: submodules).
 * Linked worktrees have neither. What `git init` writes needs no parsing, and that is nearly every repository.
 */
function openOwn(folder: string, gitDir: string): Repository | undefined {
  const text = readText(join(gitDir, 'config')) ?? '';
  const unusual = text.replace('bare = false\n', '').toLowerCase();
  const plain = { worktree: folder, git_dir: gitDir, common_dir: gitDir };
  if (!unusual.includes('bare') && !unusual.includes('worktree') && !unusual.includes('[forge]'))
    return plain;
  const main = parseGitConfig(text) ?? [];
  const own = isTrue(findLastEntry(main, 'extensions.worktreeconfig'))
    ? parseGitConfig(readText(join(gitDir, 'config.worktree')) ?? '')
    : [];
  const entries = [...main, ...(own ?? [])];
  if (isTrue(findLastEntry(entries, 'core.bare'))) return undefined;
  const elsewhere = findLastEntry(entries, 'core.worktree')?.value;
  const attempt = findClaim(main);
  return {
    ...plain,
    ...(elsewhere !== undefined && { worktree: resolve(gitDir, elsewhere) }),
    ...(attempt && { attempt }),
  };
}

function findClaim(entries: readonly GitConfigEntry[]): AttemptClaim | undefined {
  const project = findLastEntry(entries, 'forge.project')?.value;
  const attempt_id = findLastEntry(entries, 'forge.attempt')?.value;
  return project === undefined || attempt_id === undefined ? undefined : { project, attempt_id };
}

/** HEAD may be a symbolic link to a branch without commits, so it is not followed. */
function holdsHead(folder: string): boolean {
  return look(join(folder, 'HEAD'), lstatSync) !== undefined;
}

function isGitFolder(folder: string): boolean {
  return (
    holdsHead(folder) &&
    look(join(folder, 'objects'))?.isDirectory() === true &&
    look(join(folder, 'refs'))?.isDirectory() === true
  );
}

/** A folder that may not be searched holds nothing for us, nor does a path through a file; git goes on too. */
function look(path: string, stat: typeof statSync = statSync): Stats | undefined {
  try {
    return stat(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function readText(path: string): string | undefined {
  if (look(path)?.isFile() !== true) return undefined;
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw (
      toOutOfFilesError(error, `Could not read ${path}`) ??
      brokenGitFile(path, `it cannot be read (${(error as Error).message})`)
    );
  }
}

function brokenGitFile(path: string, why: string): ForgeError {
  return new ForgeError('not_a_repository', `${path} is broken: ${why}`, {
    hint: 'git worktree repair, or git submodule update --init in a submodule',
    details: { path },
  });
}
