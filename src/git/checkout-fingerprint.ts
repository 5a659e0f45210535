import { createHash } from 'node:crypto';
import { lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { askGitBytes, type GitRepo } from './ask-git.ts';
import { readRef, readSymbolicRef } from './read-ref.ts';
import { toGitFailure } from './run-git.ts';

/** What must be the same in the user's checkout before and after somebody else worked. */
export interface CheckoutFingerprint {
  /** The branch, or the commit where HEAD is detached. */
  readonly head: string;
  readonly commit: string;
  /** The bytes of the index; git itself writes them anew when it only looks. */
  readonly index: string;
  /** What is staged, changed and new, by name, size and time of each file. */
  readonly files: string;
}

/** Reads only: the index is not refreshed, and no file is opened that the times clear. */
export async function fingerprintCheckout(repo: GitRepo): Promise<CheckoutFingerprint> {
  const commit = (await readRef(repo, 'HEAD')) ?? '';
  return {
    head: (await readSymbolicRef(repo, 'HEAD')) ?? commit,
    commit,
    index: toHash(readIfThere(join(repo.git_dir, 'index'))),
    files: await hashFiles(repo),
  };
}

/** Which of them changed. A new `index` alone is what a mere `git status` of the user's does. */
export function compareFingerprints(
  before: CheckoutFingerprint,
  after: CheckoutFingerprint,
): readonly (keyof CheckoutFingerprint)[] {
  return (['head', 'commit', 'index', 'files'] as const).filter((part) => before[part] !== after[part]);
}

async function hashFiles(repo: GitRepo): Promise<string> {
  const args = ['status', '--porcelain=v2', '-z', '--untracked-files=all', '--ignore-submodules=dirty'];
  const { stdout, stderr, exit } = await askGitBytes(repo, args);
  if (exit !== 0) throw toGitFailure(args, { stdout: '', stderr, exit });
  const hash = createHash('sha256').update(stdout);
  for (const line of stdout.toString('utf8').split('\0')) {
    const path = /^(?:\? |1 (?:\S+ ){7}|2 (?:\S+ ){8}|u (?:\S+ ){9})([^]+)$/.exec(line)?.[1];
    if (path !== undefined) hash.update(readStats(join(repo.worktree, path)));
  }
  return hash.digest('hex');
}

/** A file that was changed before stays "changed" when it is changed again: its time and size tell. */
function readStats(path: string): string {
  try {
    const { mode, size, mtimeNs, ino } = lstatSync(path, { bigint: true });
    return `${mode} ${size} ${mtimeNs} ${ino}\0`;
  } catch {
    return 'gone\0';
  }
}

function readIfThere(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    return Buffer.alloc(0);
  }
}

function toHash(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
