import { lstatSync, mkdirSync, renameSync, rmSync, type Stats, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { askGitBytes, getFromGit, type GitRepo } from './ask-git.ts';
import type { FileEntry } from './private-index.ts';
import { toGitFailure } from './run-git.ts';

type Entries = ReadonlyMap<string, FileEntry>;

/**
 * Brings files of the working tree from `before` to `wanted` where they are what `before` says; what somebody has
 * edited, removed or replaced by a link stays. Gives the paths that were left at something else.
 */
export async function followOnDisk(
  repo: GitRepo,
  paths: readonly string[],
  before: Entries,
  wanted: Entries,
): Promise<readonly string[]> {
  const left: string[] = [];
  for (const path of paths) {
    const found = await readOid(repo, path);
    if (found === wanted.get(path)?.oid) continue;
    if (found === before.get(path)?.oid) await place(repo, path, wanted.get(path));
    else left.push(path);
  }
  return left;
}

/** What git would store for the file; undefined where there is none, `other` for what is not a plain file. */
async function readOid(repo: GitRepo, path: string): Promise<string | undefined> {
  const stats = look(repo, path);
  if (stats === undefined) return undefined;
  return stats.isFile() ? getFromGit(repo, ['hash-object', '--', path]) : 'other';
}

/** A folder on the way that is a link leads elsewhere: nothing behind it is ours. */
function look(repo: GitRepo, path: string): Stats | undefined {
  const parts = path.split('/');
  let place = repo.worktree;
  for (const [at, part] of parts.entries()) {
    place = join(place, part);
    const stats = lstatSync(place, { throwIfNoEntry: false });
    if (stats === undefined || at === parts.length - 1 || !stats.isDirectory()) return stats;
  }
  return undefined;
}

/** Whole or not at all: another Forge may read the file at this moment. */
async function place(repo: GitRepo, path: string, entry: FileEntry | undefined): Promise<void> {
  const target = join(repo.worktree, path);
  if (entry === undefined) {
    rmSync(target, { force: true });
    return;
  }
  const args = ['cat-file', '--filters', `--path=${path}`, entry.oid];
  const { stdout, stderr, exit } = await askGitBytes(repo, args);
  if (exit !== 0) throw toGitFailure(args, { stdout: '', stderr, exit });
  const temporary = `${target}.${process.pid}-${process.hrtime.bigint().toString(36)}.tmp`;
  mkdirSync(dirname(target), { recursive: true });
  try {
    writeFileSync(temporary, stdout, { flag: 'wx', mode: entry.mode === '100755' ? 0o777 : 0o666 });
    renameSync(temporary, target);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
