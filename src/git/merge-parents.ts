import { join } from 'node:path';
import { toGitFolder } from './attempt-git-folder.ts';
import type { Checkout } from './checkout-record.ts';
import { hasConflictLines } from './conflict-lines.ts';
import { askControl, type ControlGit } from './control-directory.ts';
import { look } from './guard-place.ts';
import { openBlobReader } from './read-blob.ts';
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
  if (unmerged === undefined) return [];
  await using reader = openBlobReader(control);
  for (const [path, stages] of unmerged) {
    const text = readText(join(checkout.path, path));
    const sides: string[] = [];
    for (const stage of ['1', '2', '3']) {
      const oid = stages.get(stage);
      sides.push(oid === undefined ? '' : ((await reader.readObject(oid))?.toString('latin1') ?? ''));
    }
    const [base = '', ours = '', theirs = ''] = sides;
    if (hasConflictLines(text, { base, ours, theirs })) return [];
  }
  return parents;
}

/** Of each path in conflict the blobs of base, ours and theirs, by their stage. */
type Unmerged = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** Of the agent's own index, which is data and nothing else; undefined where it cannot be read. */
async function listUnmerged(control: ControlGit, checkout: Checkout): Promise<Unmerged | undefined> {
  const index = join(toGitFolder(checkout), 'index');
  if (look(index)?.isFile() !== true) return undefined;
  const result = await askControl(control, ['ls-files', '-z', '--unmerged'], { index });
  if (result.exit !== 0) return undefined;
  const unmerged = new Map<string, Map<string, string>>();
  for (const line of result.stdout.split('\0')) {
    const [, oid, stage, path] = /^\d+ ([0-9a-f]+) ([123])\t([^]+)$/.exec(line) ?? [];
    if (oid === undefined || stage === undefined || path === undefined) continue;
    const stages = unmerged.get(path) ?? new Map<string, string>();
    unmerged.set(path, stages.set(stage, oid));
  }
  return unmerged;
}

function readText(path: string): string {
  if (look(path)?.isFile() !== true) return '';
  return readPlainFile(path)?.toString('latin1') ?? '';
}
