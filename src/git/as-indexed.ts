import { statSync } from 'node:fs';
import { join } from 'node:path';
import { askGit, type GitRepo } from './ask-git.ts';

/**
 * Whether a file of the working tree is the one of which git's index has notes. As `git diff-files` says it, which would run
 * filters of the repository's where the times of file and index do not tell: a look must start no program of theirs.
 */
export async function isAsIndexed(repo: GitRepo, path: string): Promise<boolean> {
  const { exit, stdout } = await askGit(repo, [
    'ls-files',
    '--stage',
    '--debug',
    '--',
    `:(top,literal)${path}`,
  ]);
  const note = exit === 0 ? readNote(stdout) : undefined;
  if (note === undefined) return false;
  const file = statSync(join(repo.worktree, path), { bigint: true, throwIfNoEntry: false });
  if (file === undefined) return false;
  const isSame =
    isAt(file.mtimeNs, note.mtime) &&
    isAt(file.ctimeNs, note.ctime) &&
    BigInt.asUintN(32, file.ino) === note.ino;
  const size = BigInt.asUintN(32, file.size);
  // Git notes no size of a file that may have been written in the same moment as its index.
  if (!isSame || (size !== note.size && note.size !== 0n)) return false;
  if (size === note.size && file.mtimeNs < indexTime(repo)) return true;
  const hashed = await askGit(repo, ['hash-object', '--no-filters', '--', join(repo.worktree, path)]);
  return hashed.exit === 0 && hashed.stdout.trim() === note.oid;
}

interface IndexNote {
  readonly oid: string;
  readonly ctime: string;
  readonly mtime: string;
  readonly ino: bigint;
  readonly size: bigint;
}

/** Undefined where it has none, or several: in a conflict. */
function readNote(text: string): IndexNote | undefined {
  const [, oid] = /^\d+ ([0-9a-f]+) 0\t/.exec(text) ?? [];
  const [, ctime] = /^ {2}ctime: (\d+:\d+)$/m.exec(text) ?? [];
  const [, mtime] = /^ {2}mtime: (\d+:\d+)$/m.exec(text) ?? [];
  const [, ino] = /\bino: (\d+)$/m.exec(text) ?? [];
  const [, size] = /^ {2}size: (\d+)\b/m.exec(text) ?? [];
  if (oid === undefined || ctime === undefined || mtime === undefined) return undefined;
  return ino === undefined || size === undefined
    ? undefined
    : { oid, ctime, mtime, ino: BigInt(ino), size: BigInt(size) };
}

/** Some gits note seconds alone. */
function isAt(time: bigint, noted: string): boolean {
  const seconds = `${BigInt.asUintN(32, time / 1_000_000_000n)}`;
  return noted === `${seconds}:${time % 1_000_000_000n}` || noted === `${seconds}:0`;
}

function indexTime({ git_dir, git_env }: GitRepo): bigint {
  const index = git_env?.['GIT_INDEX_FILE'] ?? join(git_dir, 'index');
  return statSync(index, { bigint: true, throwIfNoEntry: false })?.mtimeNs ?? 0n;
}
