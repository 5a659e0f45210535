import { readJson } from '#kernel/read-json.ts';
import { isForgeError } from '#kernel/errors.ts';
import type { Json } from '#kernel/json.ts';
import { decodeRecord } from './record-codec.ts';
import { digestRecord } from './record-digests.ts';

/** A line that shows again what it, or another edit of it, once showed. */
export interface PutBackLine {
  readonly text: string;
  readonly seal: string;
  /** The digests of what it showed last, which is gone from the file now. */
  readonly last: string;
  /**
   * Where this file never showed that, to the knowledge of the store: `edit`, the line has an edit that is known from
   * elsewhere, and only what was written into the file here makes it another one; `back`, the line is as Forge wrote it,
   * and only a commit tells that an edit was taken back.
   */
  readonly guessed?: 'edit' | 'back' | undefined;
  /**
   * Forge wrote the line anew in a clone that had not taken in the edit: it may never have come there, or a commit took it
   * back on the way. In an answer `text` is what that commit left.
   */
  readonly overwritten?: true | undefined;
}

/** The changes of a commit: lines with their signs. */
export type LineChanges = readonly string[];

/**
 * Whether a commit took away what the line showed last: then a person changed it back. Git does so too, with what no
 * commit holds, or by going to other commits. `log` has the changes of each commit, newest first.
 */
export function isTakenBack(log: readonly LineChanges[], line: PutBackLine): boolean {
  for (const changes of log) {
    const found = judgeChanges(changes, line);
    if (found !== undefined) return found;
  }
  return false;
}

/**
 * The same of one commit; undefined where it neither brought nor took what the line showed last. A line that Forge wrote
 * in its place has another seal, or has one at all: that took nothing back.
 */
export function judgeChanges(changes: LineChanges, { text, seal, last }: PutBackLine): boolean | undefined {
  const named = changes.filter((line) => line.includes(`"${seal}"`));
  const found = named.filter((line) => digestOf(line.slice(1)) === last);
  if (found.length === 0) return undefined;
  return found.every((line) => line.startsWith('-')) && findLeft(changes, { text, seal }) !== undefined;
}

/** What a commit brought in the place of a line. */
function findLeft(
  changes: LineChanges,
  { text, seal }: Pick<PutBackLine, 'text' | 'seal'>,
): string | undefined {
  const isStamped = hasStamps(text);
  const left = changes.find(
    (line) => line.startsWith('+') && line.includes(`"${seal}"`) && hasStamps(line) === isStamped,
  );
  return left?.slice(1);
}

/** Of a line that was written anew since, what the commit left of it is what counts. */
export function toAnswer(line: PutBackLine, changes: LineChanges): PutBackLine {
  return line.overwritten === true ? { ...line, text: findLeft(changes, line) ?? line.text } : line;
}

function hasStamps(line: string): boolean {
  return line.includes('"_v"');
}

function digestOf(line: string): string | undefined {
  try {
    return digestRecord(decodeRecord(readJson(line) as Json));
  } catch (error) {
    if (isForgeError(error) || error instanceof SyntaxError) return undefined;
    throw error;
  }
}
