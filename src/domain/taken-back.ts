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
}

/**
 * Whether a commit took away what the line showed last: then a person changed it back. Git does so too, with what no
 * commit holds, or by going to other commits. `log` has the changes of each commit, newest first, lines with their signs.
 */
export function isTakenBack(log: readonly (readonly string[])[], { seal, last }: PutBackLine): boolean {
  const isLast = (line: string): boolean => line.includes(`"${seal}"`) && digestOf(line.slice(1)) === last;
  for (const changes of log) {
    const found = changes.filter(isLast);
    if (found.length > 0) return found.every((line) => line.startsWith('-'));
  }
  return false;
}

function digestOf(line: string): string | undefined {
  try {
    return digestRecord(decodeRecord(readJson(line) as Json));
  } catch (error) {
    if (isForgeError(error) || error instanceof SyntaxError) return undefined;
    throw error;
  }
}
