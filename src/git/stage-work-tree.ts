import { randomBytes } from 'node:crypto';
import { existsSync, renameSync, rmSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { askGitBytes } from './ask-git.ts';
import { toSparseSettings } from './attempt-git-folder.ts';
import { type Checkout, copyIndex, toPrivateIndex, toRecordFolder } from './checkout-record.ts';
import { type ControlGit, getFromControl, toAskOptions, toControlFailure } from './control-directory.ts';
import { isBehind, lookInside } from './disk-path.ts';
import { type FilterVerdict, judgeStaged, type Staged } from './judge-filters.ts';
import { readTextIfThere, replaceFile } from './replace-file.ts';

/** An index for the time of one piece of work; the attempt's own is replaced only by `save`. */
export interface StagingIndex extends Disposable {
  readonly path: string;
  /** Makes it the attempt's own: it holds the tree of this commit now. */
  save(head: string): void;
}

/**
 * A copy of the attempt's index with the tree of `head`. Nothing is locked, so nothing can be left locked: whoever
 * ends in the middle leaves a file that is never read.
 */
export async function openStagingIndex(
  control: ControlGit,
  checkout: Checkout,
  head: string,
): Promise<StagingIndex> {
  const staging = copyToStaging(control, checkout);
  try {
    const note = readTextIfThere(toIndexNote(control, checkout))?.trim();
    const isThere = note === head && existsSync(staging.path);
    const place = { index: staging.path, work_tree: checkout.path };
    if (!isThere) await getFromControl(control, toReadTree(control, checkout, head), place);
  } catch (error) {
    staging[Symbol.dispose]();
    throw error;
  }
  return staging;
}

/** The same with whatever the attempt's own has; there is no file where it has none. */
export function copyToStaging(control: ControlGit, checkout: Checkout): StagingIndex {
  const folder = toRecordFolder(control, checkout.attempt_id);
  const path = join(folder, `staging-${process.pid}-${randomBytes(6).toString('hex')}`);
  const [own, note] = [toPrivateIndex(control, checkout.attempt_id), toIndexNote(control, checkout)];
  const staging: StagingIndex = {
    path,
    save: (commit) => {
      // Between the two the note is missing, and the index is brought to where it should be the next time.
      rmSync(note, { force: true });
      renameSync(path, own);
      replaceFile(note, `${commit}\n`);
    },
    [Symbol.dispose]: () => rmSync(path, { force: true }),
  };
  if (existsSync(own)) copyIndex(own, path);
  return staging;
}

/** Says which commit's tree the attempt's own index holds. */
function toIndexNote(control: ControlGit, checkout: Checkout): string {
  return join(toRecordFolder(control, checkout.attempt_id), 'index-head');
}

/** The index alone: what is known about unchanged files stays, and no file is touched. */
function toReadTree(control: ControlGit, checkout: Checkout, head: string): readonly string[] {
  return [...toSparseSettings(control, checkout), 'read-tree', '--reset', head];
}

/** Where a start has just brought index and files. */
export function noteIndexHead(control: ControlGit, checkout: Checkout, head: string): void {
  replaceFile(toIndexNote(control, checkout), `${head}\n`);
}

/** What differs from the index, with names as `latin1`: a path need not be UTF-8. */
export interface Differences {
  readonly tracked: readonly string[];
  readonly untracked: readonly string[];
  /** Folders that are repositories by themselves. */
  readonly nested: readonly string[];
}

const LIST = ['ls-files', '-z', '-t', '--modified', '--deleted', '--others', '--exclude-standard'] as const;

/**
 * Changed, deleted and new files. Every file that the times do not clear is compared by content; ignored files and
 * those that Forge copied are left out, whatever `.gitignore` says about the latter. Unlike `git add` or
 * `git status` this asks no submodule: git would run there, with a configuration that an agent may have written.
 */
export async function listDifferences(
  control: ControlGit,
  place: Pick<StagingPlace, 'checkout' | 'index' | 'work_tree' | 'signal'>,
): Promise<Differences> {
  const { checkout, index, work_tree = checkout.path, signal } = place;
  const excluded = control.copied.map((pattern) => `--exclude=${pattern}`);
  const args = ['-C', work_tree, ...toSparseSettings(control, checkout), ...LIST, ...excluded];
  const options = { timeout_ms: control.checkout_timeout_ms, ...(signal && { signal }) };
  const { stdout, stderr, exit } = await askGitBytes(control, args, toAskOptions(options, index, work_tree));
  if (exit !== 0) throw toControlFailure(control, args, { stdout: '', stderr, exit });
  const found = stdout.toString('latin1').split('\0').slice(0, -1);
  const listed = (isNew: boolean) => {
    const lines = found.filter((line) => line.startsWith('? ') === isNew);
    return [...new Set(lines.map((line) => line.slice(2)))];
  };
  const others = listed(true);
  return {
    tracked: listed(false),
    untracked: others.filter((path) => !path.endsWith('/')),
    nested: others.filter((path) => path.endsWith('/')).map((path) => path.slice(0, -1)),
  };
}

export interface StagingPlace {
  readonly checkout: Checkout;
  readonly index: string;
  readonly work_tree?: string;
  /** Ends git before its time. */
  readonly signal?: AbortSignal | undefined;
  readonly without_filter: Staged['without_filter'];
  readonly secrets: Staged['secrets'];
  /** The folder of the whole checkout, where the working tree is a repository inside of it. */
  readonly top?: string;
}

/**
 * Puts the paths as they are on the disk into the index; what is gone goes, and so does a file that became something
 * git has no word for, such as a pipe. Tracked ones have to come first: a file that became a folder must leave before
 * what is in the folder comes. Gives the filters that this clone does not configure, with one of the paths each.
 */
export async function stagePaths(
  control: ControlGit,
  place: StagingPlace,
  paths: readonly string[],
): Promise<FilterVerdict['unknown']> {
  const { checkout, index, work_tree = checkout.path, top = checkout.path, signal } = place;
  const { without_filter, secrets } = place;
  const update = async (how: readonly string[], which: readonly string[]): Promise<void> => {
    if (which.length === 0) return;
    const args = [...toSparseSettings(control, checkout), 'update-index', '-z', ...how, '--stdin'];
    await getFromControl(control, args, {
      index,
      work_tree,
      timeout_ms: control.checkout_timeout_ms,
      ...(signal && { signal }),
      input: Buffer.from(`${which.join('\0')}\0`, 'latin1'),
    });
  };
  const isGone = (path: string): boolean => {
    // git does not take a file that was in a folder from behind the link, or the file, that is there now.
    if (isBehind(work_tree, path)) return true;
    const found = lookInside(work_tree, path);
    return found !== undefined && !found.isFile() && !found.isSymbolicLink() && !found.isDirectory();
  };
  const prefix = toPrefix(top, work_tree);
  const { stored, unknown } = await judgeStaged(
    control,
    { checkout, work_tree, prefix, without_filter, secrets },
    paths,
  );
  const gone = new Set(paths.filter(isGone));
  await update(['--force-remove'], [...gone]);
  await update(
    ['--add', '--remove', '--replace'],
    paths.filter((path) => !gone.has(path) && !stored.has(path)),
  );
  await putStored(control, index, stored);
  return unknown;
}

/** Where the working tree lies in the checkout, for what the checkout's attributes say of its paths. */
function toPrefix(top: string, workTree: string): string {
  const way = relative(top, workTree).replaceAll(sep, '/');
  return way === '' ? '' : `${Buffer.from(way).toString('latin1')}/`;
}

async function putStored(control: ControlGit, index: string, stored: FilterVerdict['stored']): Promise<void> {
  if (stored.size === 0) return;
  const lines = [...stored].map(([path, { mode, oid }]) => `${mode} ${oid}\t${path}\0`);
  const input = Buffer.from(lines.join(''), 'latin1');
  await getFromControl(control, ['update-index', '-z', '--index-info'], { index, input });
}

export interface LargeFile {
  readonly path: string;
  readonly size_bytes: number;
}

/** Those of the paths that are files above the limit. */
export function findLargeFiles(
  checkout: Checkout,
  paths: readonly string[],
  limit: number,
): readonly LargeFile[] {
  return paths.flatMap((path) => {
    const stats = lookInside(checkout.path, path);
    return stats?.isFile() === true && stats.size > limit ? [{ path, size_bytes: stats.size }] : [];
  });
}
