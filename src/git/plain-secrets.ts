import { createHash } from 'node:crypto';
import { askGitBytes } from './ask-git.ts';
import type { ControlGit } from './control-directory.ts';
import { readCommitFilters } from './filter-attributes.ts';
import { openFilterBench } from './filter-bench.ts';
import { toGitFailure } from './run-git.ts';
import { toShownPath } from './shown-path.ts';
import { isSecretFilter } from './user-filters.ts';

/** By the id that git would give the plain text: the path whose file holds it, and the filter that hides it. */
export type PlainSecrets = ReadonlyMap<string, { readonly path: string; readonly filter: string }>;

/** Shorter texts are words that stand anywhere. */
const LEAST_BYTES = 16;

/**
 * What the files of a commit hold in plain text that a filter keeps secret: none of it may be stored under another path.
 * Costs nothing where the user has no such filter.
 */
export async function listPlainSecrets(control: ControlGit, commit: string): Promise<PlainSecrets> {
  const found = new Map<string, { path: string; filter: string }>();
  if (!control.filters.some(({ name }) => isSecretFilter(name))) return found;
  const files = await listFiles(control, commit);
  const filters = await readCommitFilters(control, commit, [...files.keys()]);
  await using bench = await openFilterBench(control);
  for (const [path, filter] of filters) {
    if (!control.filters.some(({ name }) => name === filter && isSecretFilter(name))) continue;
    const plain = await bench.read(filter, toShownPath(path), files.get(path) ?? '');
    if (plain !== undefined && plain.length >= LEAST_BYTES)
      found.set(toBlobId(control, plain), { path: toShownPath(path), filter });
  }
  return found;
}

/** Names as `latin1`, and the id of what each holds. */
async function listFiles(control: ControlGit, commit: string): Promise<ReadonlyMap<string, string>> {
  const args = ['ls-tree', '-r', '-z', '--full-tree', commit];
  const { stdout, stderr, exit } = await askGitBytes(control, args);
  if (exit !== 0) throw toGitFailure(args, { stdout: '', stderr, exit });
  const lines = stdout.toString('latin1').matchAll(/(?:^|\0)100\d+ blob ([0-9a-f]+)\t([^\0]+)/g);
  return new Map([...lines].map(([, oid = '', path = '']) => [path, oid]));
}

export function toBlobId({ object_format }: ControlGit, content: Uint8Array): string {
  return createHash(object_format).update(`blob ${content.length}\0`).update(content).digest('hex');
}
