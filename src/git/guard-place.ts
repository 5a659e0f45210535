import { lstatSync, realpathSync, type Stats } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve, sep } from 'node:path';
import { ForgeError } from '#kernel/errors.ts';

/**
 * Where a folder of ours really is: below `root` after all links on the way are followed, and not a link itself.
 * Throws permission_denied for every other place, so that nothing is written or removed there.
 */
export function resolvePlace(root: string, path: string): string {
  if (!isAbsolute(path) || resolve(path) !== path || path.includes('\0')) throw outside(root, path);
  const top = toRealPath(root);
  const parent = toRealPath(dirname(path));
  if (top === undefined || parent === undefined) throw outside(root, path);
  if (parent !== top && !parent.startsWith(top.endsWith(sep) ? top : top + sep)) throw outside(root, path);
  const place = join(parent, basename(path));
  if (look(place)?.isSymbolicLink() === true) {
    throw new ForgeError('permission_denied', `${place} is a link, so nothing is changed behind it`, {
      hint: 'Remove the link, or see who put it there',
      details: { path: place },
    });
  }
  return place;
}

/** Without following a link at its end; undefined where there is nothing. */
export function look(path: string | Buffer): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** A folder by itself, not a link to one. */
export function isRealFolder(path: string): boolean {
  return look(path)?.isDirectory() === true;
}

function toRealPath(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

function outside(root: string, path: string): ForgeError {
  return new ForgeError('permission_denied', `${path} is not inside ${root}`, { details: { root, path } });
}
