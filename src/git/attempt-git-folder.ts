import { copyFileSync, existsSync, mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { toBranch, toBranchRef } from './attempt-refs.ts';
import { type Checkout, copyIndex, toPrivateIndex } from './checkout-record.ts';
import { toConfigText, toFormatEntries } from './control-config.ts';
import { type ControlGit, toLfsStorage } from './control-directory.ts';
import { isRealFolder } from './guard-place.ts';
import { findLastEntry, type GitConfigEntry, parseGitConfig } from './parse-git-config.ts';
import { removeTreeNow } from './remove-tree.ts';
import { readTextIfThere, replaceFile } from './replace-file.ts';

export function toGitFolder(checkout: Pick<Checkout, 'path'>): string {
  return join(checkout.path, '.git');
}

/**
 * Writes the checkout's own git directory: one branch, a configuration of its own, the user's objects as alternates.
 * HEAD comes last, so that a half-written one is not taken for a repository. Whatever `.git` was there goes.
 */
export function writeGitFolder(control: ControlGit, checkout: Checkout, head: string): void {
  const folder = toGitFolder(checkout);
  removeTreeNow(folder);
  for (const part of FOLDERS) mkdirSync(join(folder, part), { recursive: true });
  replaceFile(join(folder, 'config'), toCheckoutConfig(control, checkout), 0o600);
  replaceFile(join(folder, 'objects/info/alternates'), `${toAlternate(control.objects)}\n`);
  replaceFile(join(folder, 'info/exclude'), control.excludes);
  if (control.attributes !== '') replaceFile(join(folder, 'info/attributes'), control.attributes);
  const shallow = join(control.repository.common_dir, 'shallow');
  if (existsSync(shallow)) copyFileSync(shallow, join(folder, 'shallow'));
  if (checkout.sparse) copyFileSync(toSparseList(control.git_dir), toSparseList(folder));
  setHead(control, checkout, head);
}

/**
 * For a folder in which an agent judges the work: git shows there what changed in every file of text, against what
 * the `.gitattributes` of the work say. These stand above them.
 */
export function showAllDiffs(control: ControlGit, checkout: Pick<Checkout, 'path'>): void {
  const path = join(toGitFolder(checkout), 'info/attributes');
  replaceFile(path, `${control.attributes.replace(/(?<=.)$/s, '\n')}* !diff\n`);
}

const FOLDERS = ['objects/info', 'objects/pack', 'refs/tags', 'refs/heads/forge', 'info'] as const;

/**
 * After a harvest: HEAD is on the attempt's branch again, wherever the agent had left it, and nothing is in the middle
 * of anything. A git directory that lost its shape, or has links in it, is written anew.
 */
export function restoreGitFolder(control: ControlGit, checkout: Checkout, head: string): void {
  const folder = toGitFolder(checkout);
  const parts = ['', ...FOLDERS.flatMap((part) => listParents(part))];
  const isWhole = parts.every((part) => isRealFolder(join(folder, part)));
  if (!isWhole || findFact(checkout, 'attempt') === undefined) {
    writeGitFolder(control, checkout, head);
    return;
  }
  for (const name of IN_PROGRESS) removeTreeNow(join(folder, name));
  removeTreeNow(join(folder, `${toBranchRef(checkout.name)}.lock`));
  setHead(control, checkout, head);
}

/** What a git that was killed, or stopped in the middle of something, leaves behind. */
const IN_PROGRESS: readonly string[] = [
  'index.lock',
  'HEAD.lock',
  'config.lock',
  'packed-refs.lock',
  'shallow.lock',
  'MERGE_HEAD',
  'MERGE_MSG',
  'MERGE_MODE',
  'MERGE_RR',
  'AUTO_MERGE',
  'SQUASH_MSG',
  'CHERRY_PICK_HEAD',
  'REVERT_HEAD',
  'REBASE_HEAD',
  'rebase-merge',
  'rebase-apply',
  'sequencer',
  'BISECT_START',
  'BISECT_LOG',
  'BISECT_NAMES',
  'BISECT_TERMS',
  'BISECT_EXPECTED_REV',
];

/** `a`, `a/b` for `a/b`. */
function listParents(path: string): readonly string[] {
  const parts = path.split('/');
  return parts.map((_, at) => parts.slice(0, at + 1).join('/'));
}

/** HEAD on the attempt's branch, the branch at the commit, and the index that Forge has of it. */
function setHead(control: ControlGit, checkout: Checkout, head: string): void {
  const folder = toGitFolder(checkout);
  replaceFile(join(folder, toBranchRef(checkout.name)), `${head}\n`);
  const copy = join(folder, `index.${process.pid}.tmp`);
  removeTreeNow(copy);
  copyIndex(toPrivateIndex(control, checkout.attempt_id), copy);
  renameSync(copy, join(folder, 'index'));
  replaceFile(join(folder, 'HEAD'), `ref: ${toBranchRef(checkout.name)}\n`);
}

/** `forge.<name>` of the checkout's own configuration, by a file read; undefined where it is gone or broken. */
export function findFact(checkout: Pick<Checkout, 'path'>, name: string): string | undefined {
  const folder = join(checkout.path, '.git');
  if (!isRealFolder(folder)) return undefined;
  const entries = parseGitConfig(readTextIfThere(join(folder, 'config')) ?? '') ?? [];
  return findLastEntry(entries, `forge.${name}`)?.value;
}

function toCheckoutConfig(control: ControlGit, checkout: Checkout): string {
  const inherited = control.inherited.filter(
    ({ key }) => checkout.submodules !== 'none' || !key.startsWith('submodule.'),
  );
  const facts = Object.entries({ ...checkout.facts, attempt: checkout.attempt_id });
  return toConfigText([
    ...toFormatEntries(inherited, false),
    ...toLfsStorage(control.repository, inherited),
    ...inherited,
    ...QUIET,
    ...(checkout.sparse ? readSparseEntries(control) : []),
    ...facts.map(([name, value]) => ({ key: `forge.${name}`, value })),
    ...toBranchEntries(inherited, checkout.name, facts),
  ]);
}

/** No git of an agent leaves a process behind, or waits for a key that only a person can give. */
const QUIET: readonly GitConfigEntry[] = [
  { key: 'core.logallrefupdates', value: 'true' },
  { key: 'core.fsmonitor', value: 'false' },
  { key: 'gc.auto', value: '0' },
  { key: 'maintenance.auto', value: 'false' },
  { key: 'commit.gpgsign', value: 'false' },
  { key: 'tag.gpgsign', value: 'false' },
];

/** `git config --list | grep branch.forge` tells in any checkout whose it is. */
function toBranchEntries(
  inherited: readonly GitConfigEntry[],
  name: string,
  facts: readonly (readonly [string, string])[],
): readonly GitConfigEntry[] {
  const section = `branch.${toBranch(name)}`;
  const hasOrigin = inherited.some(({ key }) => key === 'remote.origin.url');
  return [
    { key: `${section}.remote`, value: hasOrigin ? 'origin' : '.' },
    { key: `${section}.merge`, value: toBranchRef(name) },
    ...facts.map(([fact, value]) => ({ key: `${section}.forge-${fact}`, value })),
  ];
}

export function toSparseList(gitDir: string): string {
  return join(gitDir, 'info', 'sparse-checkout');
}

/** The list that the control directory has is for those that want it alone, whatever others are set to. */
export function toSparseSettings(control: ControlGit, checkout: Checkout): readonly string[] {
  const entries = checkout.sparse
    ? readSparseEntries(control)
    : [{ key: 'core.sparsecheckout', value: 'false' }];
  return entries.flatMap(({ key, value }) => ['-c', `${key}=${value}`]);
}

function readSparseEntries(control: ControlGit): readonly GitConfigEntry[] {
  const list = readTextIfThere(toSparseList(control.git_dir)) ?? '';
  return [
    { key: 'core.sparsecheckout', value: 'true' },
    { key: 'core.sparsecheckoutcone', value: String(isConeList(list)) },
  ];
}

/** A list of folders begins with these two lines; any other is one of patterns. */
function isConeList(list: string): boolean {
  return list.startsWith('/*\n!/*/\n');
}

/** A path that the file's format would take for something else is written as git quotes it. */
export function toAlternate(path: string): string {
  return /[\n"]/.test(path) ? `"${path.replaceAll(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"` : path;
}
