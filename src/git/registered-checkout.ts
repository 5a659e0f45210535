import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { readPlainFile } from './read-plain-file.ts';
import type { Checkout } from './checkout-record.ts';

/** Which folder on the disk it is: another one at the same path is not ours. */
export interface Identity {
  readonly device: string;
  readonly inode: string;
}

/** What the control directory knows of a checkout: where it was made, and which folder that was. */
export interface CheckoutRecord {
  readonly checkout: Checkout;
  readonly identity: Identity;
}

const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9_-]|\.(?![.])){0,99}$/;
const NAME_LENGTH = 100;

/** Names and ids become parts of paths and refs. */
export function isCheckoutName(name: string): boolean {
  return NAME.test(name) && name.length <= NAME_LENGTH && !/\.(?:lock)?$/i.test(name);
}

export function toRecordPath(controlDir: string, attemptId: string): string {
  return join(controlDir, 'attempts', attemptId, 'checkout.json');
}

/** Undefined where there is none, or none that can be read. */
export function readRecord(controlDir: string, attemptId: string): CheckoutRecord | undefined {
  if (!isCheckoutName(attemptId)) return undefined;
  try {
    const text = readPlainFile(toRecordPath(controlDir, attemptId))?.toString('utf8') ?? '';
    // Written by Forge alone, into a folder that is Forge's alone.
    const { device, inode, ...checkout } = JSON.parse(text) as Checkout & Identity;
    return { checkout, identity: { device, inode } };
  } catch {
    return undefined;
  }
}

export function readIdentity(path: string): Identity | undefined {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (stats?.isDirectory() !== true) return undefined;
  return { device: String(stats.dev), inode: String(stats.ino) };
}

/** Whether the folder at the record's path is the one that was made, whatever has become of what is in it. */
export function isSameFolder({ checkout, identity }: CheckoutRecord): boolean {
  const now = readIdentity(checkout.path);
  return now !== undefined && now.inode === identity.inode && now.device === identity.device;
}
