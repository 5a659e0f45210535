import { join } from 'node:path';
import { toGitFolder } from './attempt-git-folder.ts';
import type { Checkout } from './checkout-record.ts';
import { askControl, type ControlGit } from './control-directory.ts';
import { look } from './guard-place.ts';
import { isAncestor } from './read-commit.ts';
import { readPlainFile } from './read-plain-file.ts';

/**
 * The other sides of a merge that the agent began and did not commit. Without them the same conflicts would come up
 * again when the attempt is merged. A merge with markers left in its files was not finished, and counts as none.
 */
export async function findMergeParents(
  control: ControlGit,
  checkout: Checkout,
  { head, merging }: { readonly head: string; readonly merging: readonly string[] },
): Promise<readonly string[]> {
  const parents: string[] = [];
  for (const oid of merging) if (!(await isAncestor(control, oid, head))) parents.push(oid);
  if (parents.length === 0) return [];
  const unmerged = await listUnmerged(control, checkout);
  return unmerged?.some((path) => hasMarkers(join(checkout.path, path))) === false ? parents : [];
}

/** Of the agent's own index, which is data and nothing else; undefined where it cannot be read. */
async function listUnmerged(control: ControlGit, checkout: Checkout): Promise<readonly string[] | undefined> {
  const index = join(toGitFolder(checkout), 'index');
  if (look(index)?.isFile() !== true) return undefined;
  const result = await askControl(control, ['ls-files', '-z', '--unmerged'], { index });
  if (result.exit !== 0) return undefined;
  const paths = result.stdout.split('\0').map((line) => line.slice(line.indexOf('\t') + 1));
  return [...new Set(paths)].filter((path) => path !== '');
}

/** Those of the files in which a conflict still stands as git wrote it. */
export function listMarked(checkout: Checkout, paths: readonly string[]): string[] {
  return paths.filter((path) => hasMarkers(join(checkout.path, path)));
}

function hasMarkers(path: string): boolean {
  if (look(path)?.isFile() !== true) return false;
  const text = readPlainFile(path)?.toString('latin1') ?? '';
  return /^<{7} /m.test(text) && /^={7}$/m.test(text) && /^>{7} /m.test(text);
}
