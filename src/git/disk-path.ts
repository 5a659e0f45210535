import type { Stats } from 'node:fs';
import { look } from './guard-place.ts';

/** Of a path as git names it, one character a byte: names need not be UTF-8, and Node takes others as bytes only. */
export function toDiskPath(folder: string, path: string): Buffer {
  return Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(path, 'latin1')]);
}

/** What lies at a path of a working tree; undefined where there is nothing, or where it is not of that tree any more. */
export function lookInside(folder: string, path: string): Stats | undefined {
  return isBehind(folder, path) ? undefined : look(toDiskPath(folder, path));
}

/** Whether a folder on the way to the path is a link or a file now: git takes nothing from behind one. */
export function isBehind(folder: string, path: string): boolean {
  const parts = path.split('/').slice(0, -1);
  return parts.some((_, at) => {
    const found = look(toDiskPath(folder, parts.slice(0, at + 1).join('/')));
    return found !== undefined && !found.isDirectory();
  });
}
