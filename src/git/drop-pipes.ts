import { readdirSync, realpathSync, rmSync, statSync, type Stats } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Checkout } from './checkout-record.ts';
import { toDiskPath } from './disk-path.ts';
import { look } from './guard-place.ts';
import { readPlainFile } from './read-plain-file.ts';
import { replaceFile } from './replace-file.ts';
import { toShownPath } from './shown-path.ts';

/** Files whose rules git reads in every folder that it looks through. */
const RULES = /^\.git(?:attributes|ignore)$/i;

/**
 * Removes pipes and the like that stand where git would open them and wait without end: in the place of
 * `.gitattributes` and `.gitignore` in any folder, and anywhere in a git directory, its objects and those that it
 * borrows. They hold nothing that could be lost. Gives their names. `trusted` are the user's own objects.
 */
export function dropPipes(
  { path: top }: Pick<Checkout, 'path'>,
  { trusted }: { readonly trusted: string },
): readonly string[] {
  const dropped: string[] = [];
  const drop = (path: string): void => {
    rmSync(toDiskPath(top, path), { force: true });
    dropped.push(toShownPath(path));
  };
  const waiting = [{ at: '', in_git: false }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const entry of readFolder(toDiskPath(top, next.at))) {
      const path = next.at + entry.name;
      const in_git = next.in_git || entry.name === '.git';
      if (entry.isDirectory()) waiting.push({ at: `${path}/`, in_git });
      else if (entry.isFile()) continue;
      else if (entry.isSymbolicLink()) {
        if (in_git && isTrap(toDiskPath(top, path), trusted)) drop(path);
      } else if (RULES.test(entry.name) || (in_git && !entry.isSocket())) drop(path);
    }
  }
  return [...dropped, ...dropAlternates(top, trusted)];
}

/** Whether git would wait behind a link. */
function isTrap(link: Buffer, trusted: string): boolean {
  const found = findTarget(link);
  if (found === undefined || found.isFile()) return false;
  return !found.isDirectory() || holdsPipe(realpathSync.native(link), trusted);
}

/** The folders from which it borrows objects, but for those that hold a pipe. */
function dropAlternates(top: string, trusted: string): readonly string[] {
  const objects = join(top, '.git', 'objects');
  const all = readAlternates(objects);
  const kept = all.filter(({ folder }) => !holdsPipe(folder, trusted));
  if (kept.length === all.length) return [];
  replaceFile(join(objects, ALTERNATES), kept.map(({ line }) => `${line}\n`).join(''));
  return [join('.git', 'objects', ALTERNATES)];
}

const ALTERNATES = join('info', 'alternates');

function readAlternates(objects: string): readonly { readonly line: string; readonly folder: string }[] {
  const path = join(objects, ALTERNATES);
  if (look(path)?.isFile() !== true) return [];
  const lines = (readPlainFile(path)?.toString('utf8') ?? '').split('\n');
  return lines
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => ({ line, folder: resolve(objects, unquote(line)) }));
}

/** A path with a line break or a quote is written as git quotes it. */
function unquote(line: string): string {
  if (!line.startsWith('"')) return line;
  try {
    return String(JSON.parse(line));
  } catch {
    return line;
  }
}

/** In the folder, or in one of those that it borrows from in its turn. More than git has is looked at no further. */
function holdsPipe(folder: string, trusted: string): boolean {
  const seen = new Set<string>();
  let left = MOST_ENTRIES;
  const waiting = [folder];
  for (let at = waiting.pop(); at !== undefined && left > 0; at = waiting.pop()) {
    const place = findRealPath(at);
    if (place === undefined || seen.has(place) || place === findRealPath(trusted)) continue;
    seen.add(place);
    for (const entry of readFolder(Buffer.from(place))) {
      left -= 1;
      const path = join(place, Buffer.from(entry.name, 'latin1').toString());
      if (entry.isDirectory() || (entry.isSymbolicLink() && isFolder(path))) waiting.push(path);
      else if (!entry.isFile() && !entry.isSocket() && !isPlainLink(path)) return true;
    }
    waiting.push(...readAlternates(place).map((one) => one.folder));
  }
  return false;
}

const MOST_ENTRIES = 100_000;

function findRealPath(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

function isFolder(path: string): boolean {
  return findTarget(path)?.isDirectory() === true;
}

/** A link to a file, or to nothing. */
function isPlainLink(path: string): boolean {
  return look(path)?.isSymbolicLink() === true && (findTarget(path)?.isFile() ?? true);
}

/** What a link leads to; undefined where that is nothing. */
function findTarget(path: string | Buffer): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** One that cannot be read is none that git could read. */
function readFolder(place: Buffer) {
  try {
    return readdirSync(place, { withFileTypes: true, encoding: 'latin1' });
  } catch {
    return [];
  }
}
