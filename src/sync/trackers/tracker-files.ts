import { isUtf8 } from 'node:buffer';
import { readdirSync, realpathSync, statSync, type Stats } from 'node:fs';
import { isAbsolute, join, relative, sep } from 'node:path';
import { jsonDepth, parseJson, type Json } from '#kernel/json.ts';
import { ForgeError, isForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { readJson } from '#kernel/read-json.ts';
import { compareText } from '#kernel/text.ts';
import { toFileError } from '../file-error.ts';
import { readRegularFile } from '../read-regular-file.ts';
import type { AddNote } from './tracker-task.ts';

/** Links followed: people keep their task files wherever they like. What is read is asked about by `readText`. */
export function findPath(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined;
    throw toFileError(error, `Could not look at ${path}`);
  }
}

export function isFolder(path: string): boolean {
  return findPath(path)?.isDirectory() === true;
}

export function isFile(path: string): boolean {
  return findPath(path)?.isFile() === true;
}

/** Names of the files with an ending, sorted, so that every file system gives the same order. */
export function listFiles(folder: string, ending: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => !entry.isDirectory() && entry.name.endsWith(ending))
      .map((entry) => entry.name)
      .sort(compareText);
  } catch (error) {
    throw toFileError(error, `Could not list ${folder}`);
  }
}

/** The same in its subfolders too, which links do not lead into; with the way from the folder, by slashes. */
export function listFilesBelow(folder: string, ending: string): string[] {
  const here = listFiles(folder, ending);
  const folders = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort(compareText);
  const below = folders.flatMap((name) =>
    listFilesBelow(join(folder, name), ending).map((file) => `${name}/${file}`),
  );
  return [...here, ...below];
}

/**
 * The text of a file below `within`, the folder that a person named: they may keep it wherever they like, also behind a
 * link. A link inside of it comes with a repository, and must not bring a file of theirs from elsewhere into the task file.
 */
export function readText(path: string, where: string, { note, within }: ReadingPlace): string {
  refuseOutside(path, within);
  const bytes = readRegularFile(path, { links: 'follow', max_bytes: LIMITS.git_file_bytes });
  if (bytes === undefined)
    throw new ForgeError('not_found', `Could not read ${path}: there is no such file`, { details: { path } });
  if (!isUtf8(bytes)) note({ where, what: 'is not UTF-8; what cannot be read became U+FFFD' });
  const text = bytes.toString('utf8');
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}

export interface ReadingPlace {
  readonly note: AddNote;
  /** What was named: a folder, or the file itself. */
  readonly within: string;
}

function refuseOutside(path: string, within: string): void {
  let way: string;
  try {
    way = relative(realpathSync(within), realpathSync(path));
  } catch {
    return; // reading it says what is wrong
  }
  if (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)) return;
  throw new ForgeError('invalid_input', `${path} is a link out of ${within}, which is not followed`, {
    hint: 'Copy the file to its place, or name the folder it is in',
    details: { path },
  });
}

/** Depth that every later step can walk by recursion. */
const MAX_DEPTH = 500;

/** JSON of theirs. A number that no double holds becomes a text, so that one such number does not cost the task. */
export function readTheirJson(text: string, where: string, note: AddNote): Json {
  const value = parseLoosely(text, where, note);
  if (jsonDepth(value) > MAX_DEPTH) throw new SyntaxError(`nested more than ${MAX_DEPTH} levels deep`);
  return value;
}

function parseLoosely(text: string, where: string, note: AddNote): Json {
  try {
    return parseJson(text, where);
  } catch (error) {
    if (!isForgeError(error) || error.cause !== undefined) throw (error as Error).cause ?? error;
    // Only a number fails without a cause.
    note({ where, what: 'holds a number that cannot be kept exactly; it became a text' });
    return readJson(text, (_key, value: unknown, context?: { source?: string }) =>
      typeof value === 'number' && context?.source !== undefined ? toExact(context.source) : value,
    ) as Json; // JSON.parse gives nothing but Json
  }
}

function toExact(source: string): Json {
  try {
    return parseJson(source, 'number');
  } catch {
    return source;
  }
}
