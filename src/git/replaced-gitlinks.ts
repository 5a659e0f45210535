import { readdirSync } from 'node:fs';
import type { Checkout } from './checkout-record.ts';
import { type ControlGit, getFromControl } from './control-directory.ts';
import { lookInside, toDiskPath } from './disk-path.ts';
import { listGitlinks } from './flatten-nested.ts';
import { listDeclared, refuseNested, toDeclared } from './judge-changes.ts';
import { readBlob } from './read-blob.ts';
import { toShownPath } from './shown-path.ts';

/**
 * Takes submodules out of the index that are none any more: git itself sees no difference in a folder in the place of
 * one, whatever is in it, and the files there would be lost without a word. Gives whether there were any. Throws
 * state_invalid for one that is still a repository, and that the attempt has taken out of `.gitmodules`.
 */
export async function dropReplacedGitlinks(
  control: ControlGit,
  { checkout, index }: { readonly checkout: Checkout; readonly index: string },
): Promise<boolean> {
  const declared = listDeclared(checkout);
  const links = [...(await listGitlinks(control, index)).keys()];
  const left = links.filter((path) => !declared.has(toShownPath(path)) && isFolder(checkout, path));
  if (left.length === 0) return false;
  const text = await readBlob(control, checkout.base, '.gitmodules');
  const before = toDeclared(text?.toString('utf8') ?? '');
  const isGivenUp = (path: string): boolean => before.has(toShownPath(path));
  const isRepository = (path: string): boolean => lookInside(checkout.path, `${path}/.git`) !== undefined;
  refuseNested(
    checkout,
    left.filter((path) => isRepository(path) && isGivenUp(path)),
  );
  // One that no `.gitmodules` has ever named is empty in every checkout, and stays as long as nothing is put there.
  const isFilled = (path: string): boolean => readdirSync(toDiskPath(checkout.path, path)).length > 0;
  const replaced = left.filter((path) => !isRepository(path) && (isGivenUp(path) || isFilled(path)));
  if (replaced.length === 0) return false;
  const input = Buffer.from(replaced.map((path) => `${path}\0`).join(''), 'latin1');
  const where = { index, work_tree: checkout.path, input };
  await getFromControl(control, ['update-index', '-z', '--force-remove', '--stdin'], where);
  return true;
}

function isFolder(checkout: Checkout, path: string): boolean {
  return lookInside(checkout.path, path)?.isDirectory() === true;
}
