import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { askGit, getFromGit, type GitRepo } from './ask-git.ts';
import { toGitFailure } from './run-git.ts';

/** Paths from the top of the repository and what they shall hold; null removes. */
export type FileChanges = ReadonlyMap<string, Uint8Array | null>;

/** A file of a tree or an index: what git compares. */
export interface FileEntry {
  readonly mode: string;
  readonly oid: string;
}

/** Paths and the entries that they shall have; null removes. */
export type EntryChanges = ReadonlyMap<string, FileEntry | null>;

/**
 * Runs `work` with the variables that lead git to an index of its own, outside of the repository: what the user has
 * staged is neither read nor touched.
 */
export async function withPrivateIndex<T>(
  work: (env: { readonly GIT_INDEX_FILE: string }) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'forge-index-'));
  try {
    return await work({ GIT_INDEX_FILE: join(folder, 'index') });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Stores the files as `git add` would, with the line ends and filters of their paths. */
export async function storeFiles(
  repo: GitRepo,
  files: FileChanges,
): Promise<ReadonlyMap<string, string | null>> {
  const stored = new Map<string, string | null>();
  for (const [path, bytes] of files) {
    const args = ['hash-object', '-w', '--stdin', `--path=${path}`];
    stored.set(path, bytes === null ? null : await getFromGit(repo, args, { input: bytes }));
  }
  return stored;
}

/** What differs from the entries that were there before. */
export function toChanges(
  stored: ReadonlyMap<string, string | null>,
  before: ReadonlyMap<string, FileEntry>,
  executable: ReadonlySet<string> = new Set(),
): EntryChanges {
  const changes = new Map<string, FileEntry | null>();
  for (const [path, oid] of stored) {
    const old = before.get(path);
    const mode = executable.has(path) ? '100755' : toFileMode(old);
    const entry = oid === null ? null : { mode, oid };
    if (!isSameEntry(old, entry ?? undefined)) changes.set(path, entry);
  }
  return changes;
}

/** A file keeps its mode; what was a link becomes a file. */
export function toFileMode(old: FileEntry | undefined): string {
  return old?.mode === '100755' ? '100755' : '100644';
}

/** The tree of a commit (undefined: an empty one) with these entries replaced. */
export function writeTree(repo: GitRepo, base: string | undefined, changes: EntryChanges): Promise<string> {
  return withPrivateIndex(async (env) => {
    if (base !== undefined) await getFromGit(repo, ['read-tree', base], { more_env: env });
    await putEntries(repo, toIndexInfo(changes, base), env);
    return writeIndexTree(repo, env);
  });
}

/** The objects were there before or were just stored, so git need not look for each (or fetch it, in a partial clone). */
export function writeIndexTree(repo: GitRepo, env: Readonly<Record<string, string>>): Promise<string> {
  return getFromGit(repo, ['write-tree', '--missing-ok'], { more_env: env });
}

/** git only warns about a path that it does not take (`.git/x`); here that would be a file silently left out. */
export async function putEntries(
  repo: GitRepo,
  input: string,
  env: Readonly<Record<string, string>>,
): Promise<void> {
  const result = await askGit(repo, UPDATE_ENTRIES, { input, more_env: env });
  if (result.exit !== 0 || /^Ignoring path/m.test(result.stderr)) throw toGitFailure(UPDATE_ENTRIES, result);
}

/** Takes `toIndexInfo` on its stdin. */
export const UPDATE_ENTRIES: readonly string[] = ['update-index', '-z', '--index-info'];

/** Mode 0 removes, and wants an id as long as those of the repository; `like` is one of them. */
export function toIndexInfo(changes: EntryChanges, like: string | undefined): string {
  const lines = [...changes].map(([path, entry]) => {
    if (entry !== null) return `${entry.mode} ${entry.oid}\t${path}\0`;
    return like === undefined ? '' : `0 ${'0'.repeat(like.length)}\t${path}\0`;
  });
  return lines.join('');
}

/** What a commit (undefined: none) has at these paths; paths that are not files are left out. */
export async function readTreeEntries(
  repo: GitRepo,
  commit: string | undefined,
  paths: readonly string[],
): Promise<ReadonlyMap<string, FileEntry>> {
  if (commit === undefined || paths.length === 0) return new Map();
  const lines = await getFromGit(repo, ['ls-tree', '-z', '--full-tree', commit, '--', ...paths]);
  return toEntries(lines, /^(\d+) blob ([0-9a-f]+)\t([^]+)$/, paths);
}

/** What the user's own index has at these paths; `UNMERGED` for one in the middle of a merge. */
export async function readIndexEntries(
  repo: GitRepo,
  paths: readonly string[],
): Promise<ReadonlyMap<string, FileEntry>> {
  if (paths.length === 0) return new Map();
  const wanted = paths.map((path) => `:(top,literal)${path}`);
  const lines = await getFromGit(repo, ['ls-files', '-z', '--stage', '--full-name', '--', ...wanted]);
  const entries = new Map(toEntries(lines, /^(\d+) ([0-9a-f]+) 0\t([^]+)$/, paths));
  for (const path of toEntries(lines, /^(\d+) ([0-9a-f]+) [123]\t([^]+)$/, paths).keys())
    entries.set(path, UNMERGED);
  return entries;
}

/** Equal to no entry of a tree. */
const UNMERGED: FileEntry = { mode: 'unmerged', oid: '' };

function toEntries(text: string, pattern: RegExp, paths: readonly string[]): ReadonlyMap<string, FileEntry> {
  const entries = new Map<string, FileEntry>();
  for (const line of text.split('\0')) {
    const [, mode, oid, path] = pattern.exec(line) ?? [];
    if (mode === undefined || oid === undefined || path === undefined || !paths.includes(path)) continue;
    entries.set(path, { mode, oid });
  }
  return entries;
}

export function isSameEntry(a: FileEntry | undefined, b: FileEntry | undefined): boolean {
  return a?.oid === b?.oid && a?.mode === b?.mode;
}
