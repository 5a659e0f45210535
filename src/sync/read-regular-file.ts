import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, type Stats } from 'node:fs';
import { dirname } from 'node:path';
import { ForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { toFileError } from './file-error.ts';

export interface ReadRules {
  readonly max_bytes?: number;
  /**
   * `refuse` for files that a repository brings: a link in it may lead to any file of the user's, and what an
   * error or a copy shows of that file is for nobody else.
   */
  readonly links: 'follow' | 'refuse';
  readonly hint?: string;
}

const HINT =
  'Put a regular file in its place, for example the last one that was committed: git log -- <file>';

/**
 * The bytes of a file; undefined where there is none. Throws invalid_input for what is no regular file or too large: a
 * device or a pipe in its place would never end, and the process would wait or fill its memory. Judged by the file that
 * was opened, so that nothing can be exchanged in between.
 */
export function readRegularFile(path: string, rules: ReadRules): Buffer | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, toFlags(rules));
    const stats = fstatSync(file);
    const why = findFault(path, stats, rules);
    if (why !== undefined) throw refuse(path, why, rules);
    const bytes = readBytes(file, stats.size, rules);
    if (bytes === undefined) throw refuse(path, tooLarge(rules), rules);
    return bytes;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException; // a ForgeError's code is none of these
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    if (code === 'ELOOP' && rules.links === 'refuse') throw refuse(path, isNot('a symbolic link'), rules);
    if (code === 'ENXIO') throw refuse(path, isNot('a socket or a device'), rules);
    throw toFileError(error, `Could not read ${path}`);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** A pipe is opened without waiting for its writer. */
function toFlags({ links }: ReadRules): number {
  const flags = constants.O_RDONLY | constants.O_NONBLOCK;
  return links === 'refuse' ? flags | constants.O_NOFOLLOW : flags;
}

function findFault(path: string, stats: Stats, rules: ReadRules): string | undefined {
  if (!stats.isFile()) return isNot(kindOf(stats));
  if (stats.size > toLimit(rules)) return tooLarge(rules);
  const folder = dirname(path);
  if (rules.links === 'refuse' && lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink() === true)
    return `is not read: ${folder} is a symbolic link`;
  return undefined;
}

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return 'a folder';
  return stats.isFIFO() ? 'a pipe' : 'a device';
}

function isNot(kind: string): string {
  return `is not a regular file but ${kind}`;
}

function tooLarge(rules: ReadRules): string {
  return `is too large: it has more than ${toLimit(rules)} bytes`;
}

function toLimit({ max_bytes = LIMITS.config_bytes }: ReadRules): number {
  return max_bytes;
}

function refuse(path: string, why: string, rules: ReadRules): ForgeError {
  return new ForgeError('invalid_input', `${path} ${why}`, {
    hint: rules.hint ?? HINT,
    details: { path, limit: toLimit(rules) },
  });
}

/** A file may grow while it is read, and one of /proc says that it has no bytes: the bound holds for both. */
function readBytes(file: number, size: number, rules: ReadRules): Buffer | undefined {
  let bytes = Buffer.allocUnsafeSlow(size + 1);
  let filled = 0;
  for (;;) {
    const count = readSync(file, bytes, filled, bytes.length - filled, null);
    if (count === 0) return bytes.subarray(0, filled);
    filled += count;
    if (filled > toLimit(rules)) return undefined;
    if (filled === bytes.length) bytes = Buffer.concat([bytes], bytes.length * 2);
  }
}
