import { randomBytes } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { readPlainFile } from './read-plain-file.ts';
import { askControl, type ControlGit, getFromControl } from './control-directory.ts';
import { type Checkout, toRecordFolder } from './checkout-record.ts';
import { isRealFolder, look } from './guard-place.ts';
import { readTextIfThere } from './replace-file.ts';
import { toObjectList } from './object-list.ts';
import { writeIndexTree } from './private-index.ts';
import type { Staged } from './judge-filters.ts';
import { toShownPath } from './shown-path.ts';
import { listDifferences, stagePaths } from './stage-work-tree.ts';

export interface NestedPlace {
  readonly checkout: Checkout;
  readonly index: string;
  readonly top?: string;
  /** Of the whole checkout. */
  readonly secrets: Staged['secrets'];
}

/**
 * Puts the files of repositories inside the checkout into the index as plain files, for a rescue: a commit that only
 * named their commits would save nothing. `gitlinks` are submodules with the commit that the index has; those whose
 * files are still that commit's stay as they are. Gives whether there was anything to put there.
 */
export async function flattenNested(
  control: ControlGit,
  place: NestedPlace,
  nested: readonly string[],
): Promise<boolean> {
  let isFlattened = false;
  const gitlinks = await listGitlinks(control, place.index);
  for (const path of new Set([...nested, ...gitlinks.keys()])) {
    const folder = join(place.checkout.path, toShownPath(path));
    if (!isRealFolder(folder) || readdirSync(folder).length === 0) continue;
    const tree = await writeFolderTree(control, place, folder);
    const commit = gitlinks.get(path);
    if (commit !== undefined && (await isTreeOf(control, { folder, commit, tree }))) continue;
    const where = { index: place.index, work_tree: place.checkout.path };
    const input = Buffer.from(`${path}\0`, 'latin1');
    await getFromControl(control, ['update-index', '-z', '--force-remove', '--stdin'], { ...where, input });
    await getFromControl(control, ['read-tree', `--prefix=${toShownPath(path)}/`, tree], where);
    isFlattened = true;
  }
  return isFlattened;
}

/** The submodules that an index has, with their commits; names as `latin1`. */
export async function listGitlinks(control: ControlGit, index: string): Promise<ReadonlyMap<string, string>> {
  if (!mayHaveGitlinks(index)) return new Map();
  const text = await getFromControl(control, ['ls-files', '-z', '--stage'], { index });
  const found = [...text.matchAll(/(?:^|\0)160000 ([0-9a-f]+) 0\t([^\0]+)/g)];
  return new Map(found.map(([, oid = '', path = '']) => [Buffer.from(path).toString('latin1'), oid]));
}

/** Every entry has its mode in four bytes. Where those of a gitlink are nowhere, git need not list them all. */
function mayHaveGitlinks(index: string): boolean {
  return readPlainFile(index)?.includes(Buffer.from([0, 0, 0xe0, 0])) === true;
}

/** With what lies in repositories inside of it again, however deep. */
async function writeFolderTree(
  control: ControlGit,
  { checkout, top = checkout.path, secrets }: NestedPlace,
  folder: string,
): Promise<string> {
  const name = `nested-${process.pid}-${randomBytes(6).toString('hex')}`;
  const index = join(toRecordFolder(control, checkout.attempt_id), name);
  const inside = { ...checkout, path: folder, sparse: false };
  const place = { checkout: inside, index, top, secrets, without_filter: 'keep_filter' } as const;
  try {
    const found = await listDifferences(control, place);
    await stagePaths(control, place, found.untracked);
    await flattenNested(control, place, found.nested);
    return await writeIndexTree(control, { GIT_INDEX_FILE: index });
  } finally {
    rmSync(index, { force: true });
  }
}

/** The submodule's objects are only read: its configuration has no say in that. */
async function isTreeOf(
  control: ControlGit,
  { folder, commit, tree }: { readonly folder: string; readonly commit: string; readonly tree: string },
): Promise<boolean> {
  const objects = join(findGitDir(folder), 'objects');
  if (!isRealFolder(objects)) return false;
  const more_env = { GIT_ALTERNATE_OBJECT_DIRECTORIES: toObjectList(objects) };
  const result = await askControl(control, ['rev-parse', '--verify', '--quiet', `${commit}^{tree}`], {
    more_env,
  });
  return result.exit === 0 && result.stdout.trim() === tree;
}

function findGitDir(folder: string): string {
  const dotGit = join(folder, '.git');
  if (look(dotGit)?.isFile() !== true) return dotGit;
  const target = /^gitdir: (.+)$/m.exec(readTextIfThere(dotGit) ?? '')?.[1] ?? dotGit;
  return resolve(dirname(dotGit), target);
}
