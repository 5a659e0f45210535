import { chmodSync, mkdirSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ForgeError, isForgeError } from '#kernel/errors.ts';
import { type Json, type JsonObject, parseJson } from '#kernel/json.ts';
import { readJson } from '#kernel/read-json.ts';
import { escapeLine } from '#kernel/text.ts';
import { toFileError } from './file-error.ts';
import type { HomeFileName } from './home-files.ts';
import { replaceFile } from './place-file.ts';
import { readRegularFile, type ReadRules } from './read-regular-file.ts';

/** Of every file of the home, from its first byte on. */
export const PRIVATE = 0o600;

/** People link to files that they keep elsewhere. The largest are lists of a few hundred bytes for each agent, token or value. */
const READING: ReadRules = {
  links: 'follow',
  max_bytes: 67_108_864,
  hint: 'Put a regular file in its place, or move it away and start anew',
};

/** The files of the Forge home: small, read whole, replaced whole, changed by one process at a time. */

/** Undefined where there is none yet. */
export function readHomeFile(home: string, name: string): string | undefined {
  return readRegularFile(join(home, name), READING)?.toString('utf8');
}

/** Changes whenever the file does, whoever changed it: one look at it. Undefined where there is none. */
export function homeFileVersion(home: string, name: string): string | undefined {
  const facts = statSync(join(home, name), { throwIfNoEntry: false, bigint: true });
  return facts && `${facts.ino}:${facts.mtimeNs}:${facts.size}`;
}

/**
 * Reads, decides and replaces under a lock. `change` gives the new text and an answer; the same text as before
 * writes nothing. It may be called twice, so it only decides. Throws what `change` throws, with the file as it was.
 */
export async function changeHomeFile<T>(
  home: string,
  name: HomeFileName,
  change: (text: string | undefined) => { text: string; answer: T },
): Promise<T> {
  const path = join(home, name);
  try {
    // What is refused must not leave a home behind.
    if (statSync(home, { throwIfNoEntry: false }) === undefined) change(undefined);
    makeHome(home);
    const { holdFileLock } = await import('#process/hold-file-lock.ts');
    return await holdFileLock(`${path}.lock`, { what: `change of ${path}` }, () => {
      const before = readHomeFile(home, name);
      const { text, answer } = change(before);
      if (text !== (before ?? '')) replaceFile(toTarget(path), text, PRIVATE);
      return answer;
    });
  } catch (error) {
    throw toFileError(error, `Could not change ${path}`);
  }
}

/** For its owner alone: it will hold tokens. One that is there already keeps the permissions somebody gave it. */
function makeHome(home: string): void {
  if (statSync(home, { throwIfNoEntry: false }) !== undefined) return;
  mkdirSync(home, { recursive: true, mode: 0o700 });
  chmodSync(home, 0o700); // whatever the umask took away
}

/** People keep their dotfiles elsewhere and link to them: the link stays, what it points to is replaced. */
function toTarget(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}

/** One JSON value a line. Blank lines and the rest of a line that is not changed stay as they are. */
export interface HomeLine {
  readonly text: string;
  /** Undefined for a blank line. */
  readonly value: JsonObject | undefined;
}

/** Throws invalid_input with the number of a line that cannot be read, because rewriting could lose it. */
export function parseHomeLines(text: string | undefined, path: string): HomeLine[] {
  const lines = (text ?? '').split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line, at) => ({
    text: line,
    value: line.trim() === '' ? undefined : parseHomeObject(line, `${path}, line ${at + 1},`, text ?? ''),
  }));
}

/** The same; a line that cannot be read, or that `mayBe` rules out by its text, has no value and stays as it is. */
export function parseReadableLines(
  text: string | undefined,
  path: string,
  mayBe: (line: string) => boolean = () => true,
): HomeLine[] {
  const lines = (text ?? '').split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line, at) => {
    if (!mayBe(line) || !mayBeObject(line)) return { text: line, value: undefined };
    try {
      const [only] = parseHomeLines(line, `${path}, line ${at + 1}`);
      return only ?? { text: line, value: undefined };
    } catch (error) {
      if (isForgeError(error)) return { text: line, value: undefined };
      throw error;
    }
  });
}

/** Without making an error of a line that is none: there may be very many. */
function mayBeObject(line: string): boolean {
  const text = withoutMark(line).trim();
  if (!text.startsWith('{') || !text.endsWith('}')) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

export function toHomeText(lines: readonly HomeLine[]): string {
  return lines.map((line) => `${line.text}\n`).join('');
}

export function toHomeLine(value: JsonObject): HomeLine {
  return { text: JSON.stringify(value), value };
}

/** `whole` is the file's text, to tell a merge conflict from other damage. */
export function parseHomeObject(text: string, what: string, whole = text): JsonObject {
  return parseObject(() => parseJson(withoutMark(text), what), what, whole);
}

/**
 * The same for what is only looked at: a number that the next write would change is for the rule of its key, which
 * names the key.
 */
export function parseSettingsObject(text: string, what: string): JsonObject {
  const parse = (): Json => {
    try {
      return readJson(withoutMark(text)) as Json; // it gives nothing but Json
    } catch (error) {
      throw new Error(`${what} is not valid JSON: ${(error as Error).message}`, { cause: error });
    }
  };
  return parseObject(parse, what, text);
}

function withoutMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

function parseObject(parse: () => Json, what: string, whole: string): JsonObject {
  const hint = /^<{7} /m.test(whole)
    ? 'Resolve the merge conflict in it'
    : 'Correct it by hand, or move it away and start anew';
  let value: Json;
  try {
    value = parse();
  } catch (cause) {
    throw new ForgeError('invalid_input', escapeLine((cause as Error).message), { hint, cause });
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject;
  throw new ForgeError('invalid_input', `${what} does not hold a JSON object`, { hint });
}
