import { type BigIntStats, mkdirSync, readFileSync, readlinkSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { askGit, getFromGit, type GitRepo } from './ask-git.ts';
import { findFile, openNextIndex, removeLock, toIndexLock } from './index-lock.ts';
import { findIndexEntries, putStats, sealIndex } from './index-stats.ts';
import {
  type IsOurs,
  isPlacedAs,
  keepLate,
  keepSaved,
  returnBackups,
  returnSaved,
  toBackups,
} from './landing-backups.ts';
import { hasRoom, moveFiles, removeEmptyFolders, type Snapshot } from './landing-files.ts';
import { listFromGit, lookAt, lookInside, toBytes, toFile } from './landing-path.ts';
import type { LandingJournal } from './landing-journal.ts';
import {
  type EntryChanges,
  type FileEntry,
  isSameEntry,
  toIndexInfo,
  UPDATE_ENTRIES,
} from './private-index.ts';
import { isAncestor } from './read-commit.ts';
import { readRef, resolveRef } from './read-ref.ts';
import { toGitFailure } from './run-git.ts';
import { toShownPath } from './shown-path.ts';
import { copyIndex, isFile, listPathChanges, type PathChange, stageFiles, toMoves } from './stage-landing.ts';

export interface Mended {
  /** To which side of the landing the working tree was brought: that of its HEAD. */
  readonly side: 'old' | 'new';
  /** Paths at which something had to be put right. */
  readonly mended: readonly string[];
  /** Paths at which the user has something of their own by now; it stays. */
  readonly kept: readonly string[];
}

/**
 * Brings index and files of a working tree to where its HEAD is, at the paths of a landing and only where they have
 * exactly what the other side of the landing has. For a process that holds `index.lock`; it is free afterwards.
 * `index` mends what a git wrote that had read the index before the landing: only entries, and only where the file
 * says that the entry is wrong.
 */
export async function mendCheckout(
  place: GitRepo,
  landing: {
    readonly journal: LandingJournal;
    readonly folder: string;
    readonly what: 'all' | 'index';
    /** Names a lock before it is one. */
    readonly note: (inode: string) => void;
  },
): Promise<Mended> {
  const { journal, folder, what } = landing;
  const head = await readRef(place, 'HEAD');
  const hasNew = head !== undefined && (await isAncestor(place, journal.new, head));
  const side = hasNew ? 'new' : 'old';
  const right = head ?? journal.old;
  const wrong = hasNew ? journal.old : journal.new;
  const touched = new Set((await listPathChanges(place, journal.old, journal.new)).map(({ path }) => path));
  const changes = (await listPathChanges(place, wrong, right)).filter(({ path }) => touched.has(path));
  const sides = await stageSides(place, join(folder, 'mend'), { wrong, right });
  const { worktree } = place;
  const spots = [...touched].map((path) => ({ worktree, backups: toBackups(folder), path }));
  const { isRight, isWrong, isOfSides } = compareWith(sides);
  const wanted = spots.filter(({ path }) => existsIn(sides, path));
  const returned = what === 'all' ? returnBackups(wanted, { isRight, isWrong }) : [];
  // At a path that HEAD has as before the landing, nothing is ready to compare with but the file itself.
  const isKnown: IsOurs = (path, file) => isOfSides(path, file) || isSame(file, toFile(worktree, path));
  const early = what === 'all' ? keepSaved(spots, isKnown) : [];
  const found = await judge(place, { ...sides, changes });
  const isOnBranch = (await resolveRef(place, 'HEAD')) === journal.ref;
  // Another branch is checked out now: what has come along is ours only where index and file both say so.
  const isOurs = ({ disk, entry }: Judged): boolean => isOnBranch || (disk === 'wrong' && entry === 'wrong');
  const ours = found.filter(isOurs);
  const files = what === 'all' || !isOnBranch ? keepMovable(place, ours) : [];
  const entries = ours.filter(
    ({ disk, entry }) => entry === 'wrong' && (what === 'all' || !isOnBranch || disk === 'right'),
  );
  const moves = toMoves(place, { staged: sides.rightFolder, folder }, files);
  const { placed, foreign, backups } = moveFiles(moves, toSnapshot(found), { at_foreign: 'skip' });
  // A folder that was made for a file which did not come.
  for (const { path, to, disk } of what === 'all' ? ours : [])
    if (disk === 'right' && !isFile(to)) removeEmptyFolders(worktree, path);
  const isPlaced: IsOurs = (path, file) => isPlacedAs(placed.get(path), file) || isOfSides(path, file);
  const saved = returnSaved(moves, [...early, ...keepLate(backups)], isPlaced);
  const own = new Set([...foreign, ...saved]);
  const isStale = returned.length > 0;
  await replaceIndex(place, { ...landing, ...sides, like: right, placed, isStale }, entries, found);
  rmSync(join(folder, 'mend'), { recursive: true, force: true });
  const isLeft = (one: Judged): boolean => what === 'all' && one.disk === 'wrong' && !files.includes(one);
  const isKept = (one: Judged): boolean =>
    own.has(one.path) || one.disk === 'own' || one.entry === 'own' || isLeft(one);
  return { side, mended: toNames([...files, ...entries]), kept: toNames(found.filter(isKept)) };
}

function toNames(found: readonly Judged[]): readonly string[] {
  return [...new Set(found.map(({ path }) => toShownPath(path)))].sort();
}

function compareWith({
  rightFolder,
  wrongFolder,
}: Sides): Record<'isRight' | 'isWrong' | 'isOfSides', IsOurs> {
  const isRight: IsOurs = (path, file) => isSame(file, toFile(rightFolder, path));
  const isWrong: IsOurs = (path, file) => isSame(file, toFile(wrongFolder, path));
  return { isRight, isWrong, isOfSides: (path, file) => isRight(path, file) || isWrong(path, file) };
}

/** The files that are the other side's, without those that something of the user's has taken the place of. */
function keepMovable({ worktree }: GitRepo, found: readonly Judged[]): readonly Judged[] {
  const wrong = found.filter(({ disk }) => disk === 'wrong');
  const removed = new Set(wrong.filter(({ to }) => !isFile(to)).map(({ path }) => path));
  return wrong.filter(({ path, to }) => !isFile(to) || hasRoom(worktree, path, removed));
}

interface Sides {
  /** The files of each side as git would write them, at the paths in which the sides differ. */
  readonly rightFolder: string;
  readonly wrongFolder: string;
}

async function stageSides(
  place: GitRepo,
  folder: string,
  { wrong, right }: { readonly wrong: string; readonly right: string },
): Promise<Sides> {
  rmSync(folder, { recursive: true, force: true });
  const rightFolder = join(folder, 'right');
  const wrongFolder = join(folder, 'wrong');
  await stageSide(place, { folder: rightFolder, from: wrong, to: right });
  await stageSide(place, { folder: wrongFolder, from: right, to: wrong });
  return { rightFolder, wrongFolder };
}

/** By an index of its own, so that what the user has staged is not in the way. */
async function stageSide(
  place: GitRepo,
  side: { readonly folder: string; readonly from: string; readonly to: string },
): Promise<void> {
  const index = `${side.folder}.index`;
  mkdirSync(side.folder, { recursive: true, mode: 0o700 });
  await getFromGit(place, ['read-tree', side.from], { more_env: { GIT_INDEX_FILE: index } });
  const result = await stageFiles(place, { ...side, index });
  if (result.exit !== 0) throw toGitFailure(['read-tree'], result);
}

type State = 'right' | 'wrong' | 'own';

interface Judged extends PathChange {
  readonly disk: State;
  readonly entry: State;
  /** The file before its contents were looked at. */
  readonly was: BigIntStats | undefined;
}

function toSnapshot(found: readonly Judged[]): Snapshot {
  return new Map(found.map(({ path, was }) => [path, was]));
}

async function judge(
  place: GitRepo,
  sides: Sides & { readonly changes: readonly PathChange[] },
): Promise<readonly Judged[]> {
  const staged = await readStaged(place);
  return sides.changes.map((change) => ({
    ...change,
    was: lookInside(place.worktree, change.path),
    disk: judgeDisk(place.worktree, change, sides),
    entry: judgeEntry(staged.get(change.path), change),
  }));
}

function judgeEntry(entry: FileEntry | undefined, { from, to }: PathChange): State {
  if (isSameEntry(entry, to)) return 'right';
  return isSameEntry(entry, from) ? 'wrong' : 'own';
}

/** All entries of the user's index; one of a merge is equal to none. */
export async function readStaged(place: GitRepo): Promise<ReadonlyMap<string, FileEntry>> {
  const lines = await listFromGit(place, ['ls-files', '-z', '--stage', '--full-name', '--', ':(top)']);
  const entries = new Map<string, FileEntry>();
  for (const line of lines) {
    const [, mode, oid, stage, path] = /^(\d+) ([0-9a-f]+) (\d)\t([^]+)$/.exec(line) ?? [];
    if (mode === undefined || oid === undefined || path === undefined) continue;
    entries.set(path, stage === '0' ? { mode, oid } : { mode: 'unmerged', oid: '' });
  }
  return entries;
}

function judgeDisk(
  worktree: string,
  { path, from, to }: PathChange,
  { rightFolder, wrongFolder }: Sides,
): State {
  // The checkout of a submodule is never moved.
  if (!isFile(from) && !isFile(to)) return 'right';
  const file = toFile(worktree, path);
  const isThere = lookInside(worktree, path) !== undefined;
  if (isSame(isThere ? file : undefined, toFile(rightFolder, path))) return 'right';
  return isSame(isThere ? file : undefined, toFile(wrongFolder, path)) ? 'wrong' : 'own';
}

/** Nothing is the same as nothing; a folder in the place of nothing too, because others' files are in it. */
function isSame(file: Buffer | undefined, staged: Buffer): boolean {
  const want = lookAt(staged);
  const have = file === undefined ? undefined : lookAt(file);
  const isNothing = (stats: typeof want): boolean => stats === undefined || stats.isDirectory();
  if (isNothing(want) || isNothing(have)) return isNothing(want) && isNothing(have);
  if (want === undefined || have === undefined || file === undefined) return false;
  if (want.isSymbolicLink() || have.isSymbolicLink()) {
    return want.isSymbolicLink() && have.isSymbolicLink() && readLink(file).equals(readLink(staged));
  }
  if (!have.isFile() || have.size !== want.size || (have.mode & 0o100n) !== (want.mode & 0o100n))
    return false;
  return readFileSync(file).equals(readFileSync(staged));
}

const readLink = (file: Buffer): Buffer => readlinkSync(file, 'buffer');

async function replaceIndex(
  place: GitRepo,
  around: Sides & {
    readonly journal: LandingJournal;
    readonly folder: string;
    readonly note: (inode: string) => void;
    readonly like: string;
    readonly placed: ReadonlyMap<string, BigIntStats>;
    /** Files have got other times. */
    readonly isStale: boolean;
  },
  entries: readonly Judged[],
  found: readonly Judged[],
): Promise<void> {
  const lock = toIndexLock(place.git_dir);
  const index = join(place.git_dir, 'index');
  const isStale = around.isStale || found.some(({ disk, entry }) => disk === 'wrong' && entry !== 'own');
  if (entries.length === 0 && !isStale) {
    removeLock(lock, around.journal.index_locks);
    return;
  }
  const own = join(around.folder, 'mend', 'index');
  copyIndex(place, own);
  await setEntries(place, own, { ...around, entries });
  const bytes = readFileSync(own);
  const hashBytes = around.like.length / 2;
  const offsets = findIndexEntries(bytes, new Set(found.map(({ path }) => path)), hashBytes);
  for (const { path, entry, to } of found) {
    const at = offsets.get(path);
    // Where the entry is now what the file is.
    const isRight = entry === 'right' || entries.some((one) => one.path === path);
    if (at === undefined || !isRight || !isFile(to)) continue;
    const stats = around.placed.get(path) ?? findSame(place, around, path);
    if (stats !== undefined) putStats(bytes, at, stats);
  }
  sealIndex(bytes, hashBytes);
  using next = openNextIndex(join(around.folder, 'mended'), findFile(index));
  around.note(next.inode);
  next.write(bytes);
  next.intoLock(lock);
  renameSync(lock, index);
}

/** By the times from before its contents were compared: a save since then is seen by them. */
function findSame({ worktree }: GitRepo, { rightFolder }: Sides, path: string): BigIntStats | undefined {
  const stats = lookInside(worktree, path);
  return isSame(toFile(worktree, path), toFile(rightFolder, path)) ? stats : undefined;
}

/** A file that was moved into the working tree is no longer in the folder. */
function existsIn({ rightFolder }: Sides, path: string): boolean {
  return lookAt(toFile(rightFolder, path)) !== undefined;
}

async function setEntries(
  place: GitRepo,
  index: string,
  { entries, like, rightFolder }: Sides & { readonly entries: readonly Judged[]; readonly like: string },
): Promise<void> {
  if (entries.length === 0) return;
  const env = { GIT_INDEX_FILE: index };
  const changes: EntryChanges = new Map(entries.map(({ path, to }) => [path, to ?? null]));
  // Files where folders were, and the other way round: what goes has to go first.
  const gone = new Map([...changes].filter(([, entry]) => entry === null));
  const set = new Map([...changes].filter(([, entry]) => entry !== null));
  await update(place, UPDATE_ENTRIES, { input: toIndexInfo(gone, like) + toIndexInfo(set, like), env });
  // What a sparse checkout leaves out has no file, which is not a deletion.
  const skipped = entries.filter(
    ({ path, to, disk }) =>
      isFile(to) &&
      disk !== 'own' &&
      !existsIn({ rightFolder, wrongFolder: '' }, path) &&
      lookInside(place.worktree, path) === undefined,
  );
  if (skipped.length === 0) return;
  const input = skipped.map(({ path }) => `${path}\0`).join('');
  await update(place, ['update-index', '-z', '--skip-worktree', '--stdin'], { input, env });
}

/** git only warns about a path that it does not take, which would be a file silently left out. */
async function update(
  place: GitRepo,
  args: readonly string[],
  { input, env }: { readonly input: string; readonly env: Readonly<Record<string, string>> },
): Promise<void> {
  const result = await askGit(place, args, { input: toBytes(input), more_env: env });
  if (result.exit !== 0 || /^Ignoring path/m.test(result.stderr)) throw toGitFailure(args, result);
}
