import { type BigIntStats, lstatSync, mkdirSync } from 'node:fs';
import { askGitBytes, type AskOptions, type GitRepo } from './ask-git.ts';
import { toGitFailure } from './run-git.ts';

/**
 * In a landing a path of git is text of one character a byte (`latin1`), from git's output to the file system: a name
 * need not be UTF-8, and one that was read as UTF-8 would name another file. `toShownPath` makes text of it.
 */
export async function listFromGit(
  repo: GitRepo,
  args: readonly string[],
  options: AskOptions = {},
): Promise<readonly string[]> {
  const { stdout, ...result } = await askGitBytes(repo, args, options);
  if (result.exit !== 0) throw toGitFailure(args, { ...result, stdout: '' });
  return stdout.toString('latin1').split('\0');
}

/** For git's input. */
export function toBytes(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}

/** Where a path of git is below a folder of the file system, for the functions of `node:fs`. */
export function toFile(folder: string, path: string): Buffer {
  return Buffer.concat([Buffer.from(`${folder}/`), toBytes(path)]);
}

/** The folders that a path is in; true where one of them had to be made. */
export function makeParent(folder: string, path: string): boolean {
  const end = path.lastIndexOf('/');
  return end > 0 && mkdirSync(toFile(folder, path.slice(0, end)), { recursive: true }) !== undefined;
}

/** Without following a link at its end; undefined where there is nothing. */
export function lookAt(file: string | Buffer): BigIntStats | undefined {
  try {
    return lstatSync(file, { throwIfNoEntry: false, bigint: true });
  } catch {
    return undefined;
  }
}

/** Undefined where there is nothing, or where a folder on the way is a link or a file: what is behind is not ours. */
export function lookInside(worktree: string, path: string): BigIntStats | undefined {
  const parts = path.split('/');
  for (let end = 1; end < parts.length; end += 1) {
    const stats = lookAt(toFile(worktree, parts.slice(0, end).join('/')));
    if (stats?.isDirectory() !== true) return undefined;
  }
  return lookAt(toFile(worktree, path));
}

/** The same file with the same contents; a rename changes nothing but its change time. */
export function isSameSave(a: BigIntStats, b: BigIntStats): boolean {
  return a.ino === b.ino && a.size === b.size && a.mtimeNs === b.mtimeNs && a.mode === b.mode;
}
