import { constants, copyFileSync, lstatSync, mkdirSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { ForgeError } from '#kernel/errors.ts';
import { type ControlGit } from './control-directory.ts';
import {
  isCheckoutName,
  isSameFolder,
  readIdentity,
  readRecord,
  toRecordPath,
} from './registered-checkout.ts';
import { replaceFile } from './replace-file.ts';

/** One attempt's folder, as it was registered when it was made. */
export interface Checkout {
  readonly attempt_id: string;
  /** `35a4-test-forge-metad`: the branch is `forge/<name>`. */
  readonly name: string;
  /** The place of all checkouts; real path. */
  readonly root: string;
  readonly path: string;
  /** The commit that it was started from. */
  readonly base: string;
  /** Stand in its configuration as `forge.<name>`. */
  readonly facts: Readonly<Record<string, string>>;
  readonly sparse: boolean;
  readonly submodules: 'none' | 'top' | 'recursive';
  /** It has no branch, and nothing in it is kept when it goes. */
  readonly is_throwaway?: boolean;
}

/** Names become parts of paths and refs. */
export function checkName(what: string, name: string): void {
  if (isCheckoutName(name)) return;
  throw new ForgeError('invalid_input', `${JSON.stringify(name)} cannot be the ${what} of an attempt`, {
    hint: 'Letters, digits, hyphens, dots and underscores, beginning with a letter or digit',
  });
}

export function toRecordFolder(control: ControlGit, attemptId: string): string {
  checkName('id', attemptId);
  return join(control.git_dir, 'attempts', attemptId);
}

/** The index that Forge alone uses for the attempt; its stat data save reading every file again. */
export function toPrivateIndex(control: ControlGit, attemptId: string): string {
  return join(toRecordFolder(control, attemptId), 'index');
}

/** Notes the folder that stands at the checkout's path now. */
export function writeRecord(control: ControlGit, checkout: Checkout): void {
  const folder = toRecordFolder(control, checkout.attempt_id);
  mkdirSync(folder, { recursive: true });
  const record = { ...checkout, ...readIdentity(checkout.path) };
  replaceFile(
    toRecordPath(control.git_dir, checkout.attempt_id),
    `${JSON.stringify(record, undefined, 2)}\n`,
    0o600,
  );
}

export function findRecord(control: ControlGit, attemptId: string): Checkout | undefined {
  return readRecord(control.git_dir, attemptId)?.checkout;
}

export function listRecords(control: ControlGit): readonly Checkout[] {
  const names = readdirSync(join(control.git_dir, 'attempts')).sort();
  return names.flatMap((name) => findRecord(control, name) ?? []);
}

/** Whether the folder at the path is the one that was made, whatever has become of what is in it. */
export function isRegistered(control: ControlGit, checkout: Checkout): boolean {
  const found = readRecord(control.git_dir, checkout.attempt_id);
  return found !== undefined && found.checkout.path === checkout.path && isSameFolder(found);
}

export function removeRecord(control: ControlGit, attemptId: string): void {
  rmSync(toRecordFolder(control, attemptId), { recursive: true, force: true });
}

/**
 * A copy of an index that git trusts no more than the original. git takes a file for unchanged when its time and size
 * are those in the index, unless its time is not before that of the index itself: then it reads it. A copy with a
 * later time would hide an edit of the same second. Nothing may be at `to`.
 */
export function copyIndex(from: string, to: string): void {
  copyFileSync(from, to, constants.COPYFILE_EXCL);
  const { atime, mtime } = lstatSync(from);
  utimesSync(to, atime, mtime);
}
