import { lstatSync, mkdirSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { readPlainFile } from '#git/read-plain-file.ts';

/**
 * The path of a file below a folder, with the folders on the way made; undefined where a link, or anything else that
 * is no folder, stands in the way: an agent may have put it there, and what lies behind it is not its own.
 */
export function makeWayTo(folder: string, inside: string): string | undefined {
  const parts = toParts(inside);
  const name = parts?.pop();
  if (parts === undefined || name === undefined) return undefined;
  let at = folder;
  for (const part of parts) {
    at = join(at, part);
    const found = look(at);
    if (found === undefined) mkdirSync(at);
    else if (!found.isDirectory()) return undefined;
  }
  const place = join(at, name);
  const there = look(place);
  return there === undefined || there.isFile() ? place : undefined;
}

/** The bytes of a file below a folder; undefined where it is none by itself, or behind a link. */
export function readInside(folder: string, inside: string): Buffer | undefined {
  const parts = toParts(inside) ?? [];
  const isFolder = (_: string, at: number): boolean =>
    look(join(folder, ...parts.slice(0, at + 1)))?.isDirectory() === true;
  const path = join(folder, ...parts);
  if (parts.length === 0 || !parts.slice(0, -1).every(isFolder) || look(path)?.isFile() !== true)
    return undefined;
  return readPlainFile(path);
}

function toParts(inside: string): string[] | undefined {
  const parts = inside.split(/[\\/]/).filter((part) => part !== '' && part !== '.');
  // Also that of a submodule: what is planted there would be run by the next git.
  return parts.some((part) => part === '..' || part.toLowerCase() === '.git') ? undefined : parts;
}

function look(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
