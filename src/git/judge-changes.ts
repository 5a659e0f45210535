import { join } from 'node:path';
import { ForgeError } from '#kernel/errors.ts';
import { nameFiles } from '#kernel/name-files.ts';
import type { Checkout } from './checkout-record.ts';
import { look } from './guard-place.ts';
import { parseGitConfig } from './parse-git-config.ts';
import type { Gitlinks } from './read-changes.ts';
import { readTextIfThere } from './replace-file.ts';
import { toShownPath } from './shown-path.ts';
import type { LargeFile } from './stage-work-tree.ts';

/** The folders that `.gitmodules` of the checkout says are submodules. */
export function listDeclared(checkout: Checkout): ReadonlySet<string> {
  const path = join(checkout.path, '.gitmodules');
  const text = look(path)?.isFile() === true ? (readTextIfThere(path) ?? '') : '';
  return toDeclared(text);
}

/** The same by the text of such a file. */
export function toDeclared(text: string): ReadonlySet<string> {
  const entries = parseGitConfig(text) ?? [];
  return new Set(
    entries.flatMap(({ key, value }) => (/^submodule\..+\.path$/.test(key) ? (value ?? []) : [])),
  );
}

/** A commit would hold no more than the number of a commit that nobody else has. */
export function refuseNested(checkout: Checkout, nested: readonly string[]): void {
  if (nested.length === 0) return;
  const names = nested.map((path) => toShownPath(path));
  throw new ForgeError(
    'state_invalid',
    `There are repositories inside ${checkout.name} that .gitmodules does not name: ${nameFiles(names)}`,
    {
      hint: 'Remove the .git in them to commit their files, or add them as submodules',
      details: { attempt: checkout.attempt_id, paths: names },
    },
  );
}

export function refuseLarge(checkout: Checkout, files: readonly LargeFile[], limit: number): void {
  if (files.length === 0) return;
  const names = files.map(({ path }) => toShownPath(path));
  throw new ForgeError(
    'state_invalid',
    `There are new files above ${limit} bytes in ${checkout.name}: ${nameFiles(names)}`,
    {
      hint: 'Remove them, or name them in .gitignore',
      details: { attempt: checkout.attempt_id, limit_bytes: limit, paths: names },
    },
  );
}

/** Also for what the agent has committed itself. Gives the submodules that changed. */
export function checkGitlinks(checkout: Checkout, { added, changed }: Gitlinks): readonly string[] {
  if (added.length === 0) return changed;
  const declared = listDeclared(checkout);
  refuseNested(
    checkout,
    added.filter((path) => !declared.has(path)).map((path) => Buffer.from(path).toString('latin1')),
  );
  return [...added, ...changed];
}
