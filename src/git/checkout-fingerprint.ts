import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { LIMITS } from '#kernel/limits.ts';
import { askGitBytes, type GitRepo } from './ask-git.ts';
import { readPlainFile } from './read-plain-file.ts';
import { readRef, readSymbolicRef } from './read-ref.ts';
import { toGitFailure } from './run-git.ts';

/** What must be the same in the user's checkout before and after somebody else worked. */
export interface CheckoutFingerprint {
  /** The branch, or the commit where HEAD is detached. */
  readonly head: string;
  readonly commit: string;
  /** The bytes of the index; git itself writes them anew when it only looks. */
  readonly index: string;
  /**
   * What is staged, changed and new: by path how git sees it, with size and time; what goes beyond the limit under ''.
   * Also what decides which programs git runs for the user: `.git/config`, `.git/hooks/…`.
   */
  readonly files: ReadonlyMap<string, string>;
}

export interface FingerprintOptions {
  readonly timeout_ms?: number;
  /** Files of which size and time are looked at. */
  readonly files?: number;
}

/** Reads only: the index is not refreshed, and no file is opened that the times clear. */
export async function fingerprintCheckout(
  repo: GitRepo,
  options: FingerprintOptions = {},
): Promise<CheckoutFingerprint> {
  const commit = (await readRef(repo, 'HEAD')) ?? '';
  return {
    head: (await readSymbolicRef(repo, 'HEAD')) ?? commit,
    commit,
    index: toHash(readIfThere(join(repo.git_dir, 'index'))),
    files: new Map([...(await readFiles(repo, options)), ...readPrograms(repo)]),
  };
}

/** Which of them changed. A new `index` alone is what a mere `git status` of the user's does. */
export function compareFingerprints(
  before: CheckoutFingerprint,
  after: CheckoutFingerprint,
): readonly (keyof CheckoutFingerprint)[] {
  const parts = (['head', 'commit', 'index'] as const).filter((part) => before[part] !== after[part]);
  return listChangedFiles(before, after).length === 0 ? parts : [...parts, 'files'];
}

/** Files that are another way now than before, by name; '' where it is one of those beyond the limit. */
export function listChangedFiles(before: CheckoutFingerprint, after: CheckoutFingerprint): readonly string[] {
  const paths = new Set([...before.files.keys(), ...after.files.keys()]);
  return [...paths].filter((path) => before.files.get(path) !== after.files.get(path)).toSorted();
}

async function readFiles(
  repo: GitRepo,
  { timeout_ms, files: limit = LIMITS.checkout_files }: FingerprintOptions,
): Promise<ReadonlyMap<string, string>> {
  const args = ['status', '--porcelain=v2', '-z', '--untracked-files=all', '--ignore-submodules=dirty'];
  const { stdout, stderr, exit } = await askGitBytes(
    repo,
    args,
    timeout_ms === undefined ? {} : { timeout_ms },
  );
  if (exit !== 0) throw toGitFailure(args, { stdout: '', stderr, exit });
  const files = new Map<string, string>();
  const beyond = createHash('sha256');
  for (const line of stdout.toString('utf8').split('\0')) {
    const path = /^(?:\? |1 (?:\S+ ){7}|2 (?:\S+ ){8}|u (?:\S+ ){9})([^]+)$/.exec(line)?.[1];
    if (path === undefined) continue;
    if (files.size < limit) files.set(path, `${line} ${readStats(join(repo.worktree, path))}`);
    else files.set('', beyond.update(`${line}\0`).copy().digest('hex'));
  }
  return files;
}

/** By what they say: git writes its configuration anew without changing it. */
function readPrograms({ common_dir, git_dir }: GitRepo): [string, string][] {
  const hooks = listNames(join(common_dir, 'hooks')).map((name) => `hooks/${name}`);
  const shared = ['config', 'info/attributes', ...hooks].map((name) => join(common_dir, name));
  return [...shared, join(git_dir, 'config.worktree')].flatMap((path) => {
    const bytes = readPlainFile(path);
    const name = `.git/${relative(path.startsWith(common_dir) ? common_dir : git_dir, path)}`;
    return bytes === undefined ? [] : [[name, `${readMode(path)} ${toHash(bytes)}`]];
  });
}

function listNames(folder: string): string[] {
  try {
    return readdirSync(folder).slice(0, LIMITS.checkout_files);
  } catch {
    return [];
  }
}

/** Whether it can be run. */
function readMode(path: string): string {
  return ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o111) === 0 ? 'file' : 'program';
}

/** A file that was changed before stays "changed" when it is changed again: its time and size tell. */
function readStats(path: string): string {
  try {
    const { mode, size, mtimeNs, ino } = lstatSync(path, { bigint: true });
    return `${mode} ${size} ${mtimeNs} ${ino}`;
  } catch {
    return 'gone';
  }
}

function readIfThere(path: string): Buffer {
  return readPlainFile(path) ?? Buffer.alloc(0);
}

function toHash(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
