import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { LIMITS } from '#kernel/limits.ts';
import { quoteName } from '#kernel/name-files.ts';
import { toGitFolder } from './attempt-git-folder.ts';
import { toBranch } from './attempt-refs.ts';
import type { Checkout } from './checkout-record.ts';
import { isRealFolder, look } from './guard-place.ts';
import { readPlainFile } from './read-plain-file.ts';
import { readRef } from './read-ref.ts';
import { readTextIfThere } from './replace-file.ts';

/** The commits that a checkout's own git directory leads to. */
export interface Tips {
  /** Undefined where HEAD leads nowhere, or there is no git directory any more. */
  readonly head: string | undefined;
  /** Of all branches and the stash: what an agent may have left apart from HEAD. */
  readonly others: readonly string[];
  /** Of branches that it has from elsewhere. */
  readonly remotes: readonly string[];
  /** Of a merge that was begun and not committed. */
  readonly merging: readonly string[];
}

const NONE: Tips = { head: undefined, others: [], remotes: [], merging: [] };

/** More than an agent makes; one that makes more keeps what HEAD leads to. */
const MAX_TIPS = 200;

/**
 * By file reads alone: no git runs in a directory whose configuration an agent may have written. Refs in another
 * format than files are not seen; what is in the working tree is then all there is.
 */
export async function readTips(checkout: Checkout): Promise<Tips> {
  const folder = toGitFolder(checkout);
  if (!isRealFolder(folder) || look(join(folder, 'reftable')) !== undefined) return NONE;
  if (!['objects', 'refs'].every((part) => isRealFolder(join(folder, part)))) return NONE;
  const packed = readPackedRefs(folder);
  const stash = await readOwnRef(checkout, 'refs/stash');
  return {
    head: await readOwnRef(checkout, 'HEAD'),
    others: [
      ...(await readAll(checkout, listRefs(folder, 'refs/heads', packed))),
      ...(stash === undefined ? [] : [stash]),
    ],
    remotes: await readAll(checkout, listRefs(folder, 'refs/remotes', packed)),
    merging: readOids(join(folder, 'MERGE_HEAD')),
  };
}

/**
 * Where HEAD stands if it is not on the attempt's branch, or that a rebase was begun and not ended; undefined where all
 * is as it was. A few file reads, for those who look again and again.
 */
export function findStray(checkout: Pick<Checkout, 'path' | 'name'>): string | undefined {
  const folder = toGitFolder(checkout);
  if (!isRealFolder(folder)) return undefined;
  const head = readHead(join(folder, 'HEAD')).trim();
  const [, branch] = /^ref: refs\/heads\/(.+)$/.exec(head) ?? [];
  const isRebasing = ['rebase-merge', 'rebase-apply'].some((name) => isRealFolder(join(folder, name)));
  if (isRebasing) return 'in the middle of a rebase';
  if (branch === undefined) return /^[0-9a-f]{40,64}$/.test(head) ? `at ${head.slice(0, 12)}` : undefined;
  return branch === toBranch(checkout.name) ? undefined : `on ${quoteName(branch)}`;
}

function readHead(path: string): string {
  return look(path)?.isFile() === true
    ? (readPlainFile(path, LIMITS.head_bytes)?.toString('utf8') ?? '')
    : '';
}

function readOwnRef(checkout: Checkout, ref: string): Promise<string | undefined> {
  const folder = toGitFolder(checkout);
  return readRef({ worktree: checkout.path, git_dir: folder, common_dir: folder }, ref);
}

async function readAll(checkout: Checkout, refs: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(refs.slice(0, MAX_TIPS).map((ref) => readOwnRef(checkout, ref)));
  return [...new Set(found.filter((oid) => oid !== undefined))];
}

function listRefs(folder: string, prefix: string, packed: readonly string[]): readonly string[] {
  const names = new Set(packed.filter((ref) => ref.startsWith(`${prefix}/`)));
  const top = join(folder, prefix);
  if (!isRealFolder(top)) return [...names];
  try {
    for (const entry of readdirSync(top, { recursive: true, withFileTypes: true }))
      if (entry.isFile()) names.add(join(entry.parentPath, entry.name).slice(folder.length + 1));
  } catch {
    // Folders in folders beyond what a path may be, or not for us to read: no git has made a ref there.
  }
  return [...names].sort();
}

function readPackedRefs(folder: string): readonly string[] {
  const text = readTextIfThere(join(folder, 'packed-refs')) ?? '';
  return [...text.matchAll(/^[0-9a-f]{40,64} (refs\/.+)$/gm)].flatMap(([, ref]) => ref ?? []);
}

function readOids(path: string): readonly string[] {
  if (look(path)?.isFile() !== true) return [];
  return [...(readTextIfThere(path) ?? '').matchAll(/^[0-9a-f]{40,64}$/gm)].map(([oid]) => oid);
}
