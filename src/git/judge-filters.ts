import { readFileSync } from 'node:fs';
import { ForgeError } from '#kernel/errors.ts';
import { nameFiles, quoteName } from '#kernel/name-files.ts';
import { escapeLine } from '#kernel/text.ts';
import type { AttemptSecrets } from './attempt-secrets.ts';
import type { Checkout } from './checkout-record.ts';
import type { ControlGit } from './control-directory.ts';
import { lookInside, toDiskPath } from './disk-path.ts';
import { type PathFilters, readCommitFilters, readTreeFilters } from './filter-attributes.ts';
import { isConfigured, isHeeded, openFilterBench } from './filter-bench.ts';
import { listChanges } from './list-changes.ts';
import { keepsSecrets, type PlainSecret } from './plain-secrets.ts';
import type { FileEntry } from './private-index.ts';
import { toShownPath } from './shown-path.ts';

/** What the filters mean for paths that are about to be stored. */
export interface FilterVerdict {
  /** Entries that have been stored with the filter that the base names, because the working tree names it no more. */
  readonly stored: ReadonlyMap<string, FileEntry>;
  /** Filters that this clone does not configure, with one of the paths each. */
  readonly unknown: ReadonlyMap<string, string>;
}

export interface Staged {
  readonly checkout: Checkout;
  readonly work_tree: string;
  /** Of the working tree inside the checkout, with a slash; empty for the checkout itself. */
  readonly prefix: string;
  /**
   * What becomes of files from which the attempt has taken the filter away: refused, or, where nothing may be lost,
   * stored with it all the same.
   */
  readonly without_filter: 'refuse' | 'keep_filter';
  /** What must not be stored in plain text under another path; asked for only where a file is without a filter. */
  readonly secrets: () => Promise<AttemptSecrets>;
}

/**
 * Looks at the filters of paths before a byte of them is stored. The filter that the base names counts as well as the
 * one that the working tree names now: an agent that edits `.gitattributes` must not bring a secret into history in plain
 * text. Throws state_invalid with the paths and the filter.
 */
export async function judgeStaged(
  control: ControlGit,
  staged: Staged,
  paths: readonly string[],
): Promise<FilterVerdict> {
  const { checkout, work_tree, prefix } = staged;
  const files = paths.filter((path) => lookInside(work_tree, path)?.isFile() === true);
  if (files.length === 0) return { stored: new Map(), unknown: new Map() };
  const now = await readTreeFilters(control, work_tree, files);
  const whole = files.map((path) => prefix + path);
  const before = stripPrefix(await readCommitFilters(control, checkout.base, whole), prefix);
  refuseUnknownSecrets(control, checkout, [...now, ...before]);
  const lost = [...before].filter(([path, name]) => isHeeded(control, name) && now.get(path) !== name);
  if (lost.length > 0 && staged.without_filter === 'refuse') throw refuseLost(checkout, lost);
  const hidden = new Set(
    [...now, ...lost].flatMap(([path, name]) => (keepsSecrets(control, name) ? [path] : [])),
  );
  const open = files.filter((path) => !hidden.has(path));
  const earlier = hidden.size === 0 ? [] : await listEarlier(control, staged);
  const copies = await findCopies(staged, [...new Set([...open, ...earlier])]);
  return {
    stored: await storeLost(control, staged, [...lost, ...copies]),
    unknown: await findUnknown(control, now),
  };
}

function stripPrefix(filters: PathFilters, prefix: string): PathFilters {
  return new Map([...filters].map(([path, name]) => [path.slice(prefix.length), name]));
}

function refuseUnknownSecrets(
  control: ControlGit,
  checkout: Checkout,
  found: readonly (readonly [string, string])[],
): void {
  const isRun = new Set(control.filters.map(({ name }) => name));
  const missing = found.filter(([, name]) => isHeeded(control, name) && !isRun.has(name));
  const [first] = missing;
  if (first === undefined) return;
  const paths = toPaths(missing);
  const name = escapeLine(first[1]);
  throw new ForgeError(
    'state_invalid',
    `${nameFiles(paths)} ${areOrIs(paths)} under filter=${name}, which this clone does not configure: ${checkout.name} would store ${paths.length === 1 ? 'it' : 'them'} in plain text`,
    {
      hint:
        name === 'git-crypt' ? 'git-crypt unlock' : `git config filter.${name}.clean …, or remove the files`,
      details: { attempt: checkout.attempt_id, filter: first[1], paths },
    },
  );
}

function refuseLost(checkout: Checkout, lost: readonly (readonly [string, string])[]): ForgeError {
  const paths = toPaths(lost);
  const name = escapeLine(lost[0]?.[1] ?? '');
  return new ForgeError(
    'state_invalid',
    `${nameFiles(paths)} ${areOrIs(paths)} under filter=${name}, and ${checkout.name} takes that away in .gitattributes: nothing was committed`,
    {
      hint: `Put filter=${name} back into .gitattributes; a person may take it away by hand: git rm --cached, then git add`,
      details: { attempt: checkout.attempt_id, filter: lost[0]?.[1], paths },
    },
  );
}

/** Files without such a filter that the attempt has committed before: what it hides only now may stand there already. */
async function listEarlier(control: ControlGit, staged: Staged): Promise<readonly string[]> {
  const { checkout, work_tree, without_filter, secrets } = staged;
  if (without_filter !== 'refuse') return [];
  const { committed } = await secrets();
  const files = committed.filter((path) => lookInside(work_tree, path)?.isFile() === true);
  const filters = [
    ...(await readTreeFilters(control, work_tree, files)),
    ...(await readCommitFilters(control, checkout.base, files)),
  ];
  const hidden = new Set(filters.flatMap(([path, name]) => (keepsSecrets(control, name) ? [path] : [])));
  return files.filter((path) => !hidden.has(path));
}

/** Files that hold a secret in plain text under a path that no filter hides, with the filter that hides it elsewhere. */
async function findCopies(
  { checkout, work_tree, prefix, without_filter, secrets }: Staged,
  open: readonly string[],
): Promise<readonly (readonly [string, string])[]> {
  if (open.length === 0) return [];
  const known = await secrets();
  if (known.all.length === 0) return [];
  const copies: (readonly [string, string])[] = [];
  for (const path of open) {
    const secret = await known.find(prefix + path, readFileSync(toDiskPath(work_tree, path)));
    if (secret === undefined) continue;
    if (without_filter === 'refuse') throw refuseCopy(checkout, toShownPath(path), secret);
    copies.push([path, secret.filter]);
  }
  return copies;
}

function refuseCopy(checkout: Checkout, path: string, secret: PlainSecret): ForgeError {
  const filter = escapeLine(secret.filter);
  return new ForgeError(
    'state_invalid',
    `${quoteName(path)} holds in plain text what ${quoteName(secret.path)} holds under filter=${filter}: nothing was committed`,
    {
      hint: `Give ${escapeLine(path)} the same filter in .gitattributes, or remove it`,
      details: { attempt: checkout.attempt_id, filter: secret.filter, paths: [path] },
    },
  );
}

async function storeLost(
  control: ControlGit,
  { work_tree, prefix }: Staged,
  lost: readonly (readonly [string, string])[],
): Promise<ReadonlyMap<string, FileEntry>> {
  const stored = new Map<string, FileEntry>();
  if (lost.length === 0) return stored;
  await using bench = await openFilterBench(control);
  for (const [path, name] of lost) {
    const file = toDiskPath(work_tree, path);
    const oid = await bench.store(name, toShownPath(prefix + path), readFileSync(file));
    const isExecutable = ((lookInside(work_tree, path)?.mode ?? 0) & 0o100) !== 0;
    stored.set(path, { mode: isExecutable ? '100755' : '100644', oid });
  }
  return stored;
}

async function findUnknown(control: ControlGit, now: PathFilters): Promise<ReadonlyMap<string, string>> {
  const unknown = new Map<string, string>();
  const known = new Set<string>();
  for (const [path, name] of now) {
    if (unknown.has(name) || known.has(name)) continue;
    if (await isConfigured(control, name)) known.add(name);
    else unknown.set(name, toShownPath(path));
  }
  return unknown;
}

/**
 * Holds what a landing would bring against the filters of both sides, also where the attempt began before the target had
 * the filter. Throws state_invalid with the paths that are not what their filter gives.
 */
export async function refuseUnfiltered(
  control: ControlGit,
  { target, commit }: { readonly target: string; readonly commit: string },
): Promise<void> {
  const changes = await listChanges(control, { base: target, head: commit });
  const files = new Map<string, string>();
  for (const { path, blob, modes } of changes)
    if (modes.after.startsWith('100')) files.set(Buffer.from(path).toString('latin1'), blob);
  const paths = [...files.keys()];
  if (paths.length === 0) return;
  const wanted = [
    ...(await readCommitFilters(control, target, paths)),
    ...(await readCommitFilters(control, commit, paths)),
  ].filter(([, name]) => isHeeded(control, name));
  if (wanted.length === 0) return;
  await using bench = await openFilterBench(control);
  const wrong: (readonly [string, string])[] = [];
  for (const [path, name] of new Map(wanted.map((one) => [one.join('\0'), one])).values())
    if (!(await bench.approves(name, toShownPath(path), files.get(path) ?? ''))) wrong.push([path, name]);
  if (wrong.length > 0) throw toUnfiltered(wrong);
}

function toUnfiltered(wrong: readonly (readonly [string, string])[]): ForgeError {
  const paths = toPaths(wrong);
  const name = escapeLine(wrong[0]?.[1] ?? '');
  return new ForgeError(
    'state_invalid',
    `${nameFiles(paths)} ${areOrIs(paths)} under filter=${name}, and what would be merged is not what that filter gives`,
    {
      hint: 'Merge the target into the attempt by another run, or: git add --renormalize in its worktree',
      details: { filter: wrong[0]?.[1], paths },
    },
  );
}

function toPaths(found: readonly (readonly [string, string])[]): readonly string[] {
  return [...new Set(found.map(([path]) => toShownPath(path)))];
}

function areOrIs(paths: readonly string[]): string {
  return paths.length === 1 ? 'is' : 'are';
}
