import { accessSync, constants } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ForgeError } from '#kernel/errors.ts';
import { askControl, type ControlGit } from './control-directory.ts';
import { toObjectList } from './object-list.ts';
import { type GitResult, toGitFailure } from './run-git.ts';

export interface ConflictedFile {
  readonly path: string;
  /** `content`, `add_add`, `modify_delete`, `binary` and others that git names. */
  readonly kind: string;
}

export type Merged =
  | { readonly kind: 'clean'; readonly tree: string }
  /** The tree has git's markers in the files. */
  | { readonly kind: 'conflict'; readonly tree: string; readonly files: readonly ConflictedFile[] };

/** The tree of a merge of two commits, without a checkout; `workTree` holds the attributes to heed. */
export async function mergeCommits(
  control: ControlGit,
  sides: { readonly ours: string; readonly theirs: string },
  workTree: string | undefined,
): Promise<Merged> {
  const args = ['merge-tree', '--write-tree', '-z', '--end-of-options', sides.ours, sides.theirs];
  const result = await askControl(control, args, toOptions(workTree));
  if (result.exit > 1) throw toMergeFailure(args, result);
  const fields = result.stdout.split('\0');
  const [tree = ''] = fields;
  if (result.exit === 0) return { kind: 'clean', tree };
  return { kind: 'conflict', tree, files: toConflicts(fields.slice(1)) };
}

interface Pair {
  readonly ours: string;
  readonly theirs: string;
}

/** What one git stores stays small enough for memory, and the processors have one each. */
const A_GIT = 300;
const AT_ONCE = 2;

/**
 * Many merges by few gits: the paths in conflict of each, in the order of the pairs. git stores what it merges; here
 * nobody wants that, so it goes into a folder that goes away.
 */
export async function mergeManyCommits(
  control: ControlGit,
  pairs: readonly Pair[],
  workTree: string | undefined,
): Promise<readonly (readonly string[])[]> {
  const size = Math.min(A_GIT, Math.ceil(pairs.length / AT_ONCE));
  const found: (readonly string[])[] = [];
  for (let at = 0; at < pairs.length; at += size * AT_ONCE) {
    const starts = Array.from({ length: AT_ONCE }, (_, git) => at + git * size);
    const merged = starts.map((start) => mergePairs(control, pairs.slice(start, start + size), workTree));
    found.push(...(await Promise.all(merged)).flat());
  }
  return found;
}

async function mergePairs(
  control: ControlGit,
  pairs: readonly Pair[],
  workTree: string | undefined,
): Promise<readonly (readonly string[])[]> {
  if (pairs.length === 0) return [];
  const args = ['merge-tree', '-z', '--name-only', '--no-messages', '--allow-unrelated-histories', '--stdin'];
  const input = pairs.map(({ ours, theirs }) => `${ours} ${theirs}\n`).join('');
  const ask = (folder: string): Promise<GitResult> =>
    withObjectsApart(control, folder, (more_env) =>
      askControl(control, [...FAST, ...args], { ...toOptions(workTree), input, more_env }),
    );
  const inMemory = findMemoryFolder();
  let result = inMemory === undefined ? undefined : await ask(inMemory);
  // Memory may be short where a disk is not.
  if (result?.exit !== 0) result = await ask(tmpdir());
  if (result.exit !== 0) throw toMergeFailure(args, result);
  const fields = result.stdout.split('\0');
  const found: string[][] = [];
  for (let at = 0; at < fields.length; at += 1) {
    if (fields[at] === '') continue;
    // The outcome and the tree come before the paths, which end with an empty field.
    const names: string[] = [];
    for (at += 2; at < fields.length && fields[at] !== ''; at += 1) names.push(fields[at] ?? '');
    found.push(names);
  }
  return found;
}

const FAST: readonly string[] = ['-c', 'core.looseCompression=0', '-c', 'core.fsync=none'];

/** Thousands of small files that live for a second: five times as fast as on a disk. */
function findMemoryFolder(): string | undefined {
  try {
    accessSync(MEMORY, constants.W_OK | constants.X_OK);
    return MEMORY;
  } catch {
    return undefined;
  }
}

const MEMORY = '/dev/shm';

async function withObjectsApart<T>(
  control: ControlGit,
  parent: string,
  work: (env: Readonly<Record<string, string>>) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(parent, 'forge-merges-'));
  try {
    return await work({
      GIT_OBJECT_DIRECTORY: folder,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: toObjectList(control.objects),
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function toOptions(workTree: string | undefined): { readonly work_tree?: string } {
  return workTree === undefined ? {} : { work_tree: workTree };
}

/** Stages of the paths up to an empty field, then messages: how many paths, the paths, the kind, the sentence. */
function toConflicts(fields: readonly string[]): readonly ConflictedFile[] {
  const end = fields.indexOf('');
  const stages = new Map<string, string>();
  for (const field of fields.slice(0, end)) {
    const [, stage = '', path = ''] = /^\d+ [0-9a-f]+ ([123])\t([^]+)$/.exec(field) ?? [];
    stages.set(path, (stages.get(path) ?? '') + stage);
  }
  const kinds = readKinds(fields.slice(end + 1));
  return [...stages].map(([path, seen]) => ({ path, kind: toKind(seen, kinds.get(path) ?? []) }));
}

function readKinds(fields: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const kinds = new Map<string, string[]>();
  for (let at = 0; at < fields.length;) {
    const count = Number(fields[at]);
    if (!Number.isInteger(count) || count === 0) break;
    const kind = /^CONFLICT \((.+)\)$/.exec(fields[at + count + 1] ?? '')?.[1];
    if (kind !== undefined)
      for (const path of fields.slice(at + 1, at + 1 + count))
        kinds.set(path, [...(kinds.get(path) ?? []), kind]);
    at += count + 3;
  }
  return kinds;
}

function toKind(stages: string, kinds: readonly string[]): string {
  const special = kinds.find((kind) => kind !== 'contents');
  if (special !== undefined) return special.replaceAll(/[^a-z]+/g, '_');
  return stages === '23' ? 'add_add' : 'content';
}

function toMergeFailure(args: readonly string[], result: GitResult): ForgeError {
  if (/unrelated histories/.test(result.stderr)) {
    return new ForgeError(
      'state_invalid',
      'The branches have no commit in common, so they cannot be merged',
      {
        hint: 'git log shows where they begin',
      },
    );
  }
  return toGitFailure(args, result);
}
