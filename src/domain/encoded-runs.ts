import type { RunReader } from './read-runs.ts';
import { skipSigns, toSignSet } from './sign-sets.ts';

/** A part of a text that says another text in base64 or hex. */
interface EncodedRun {
  readonly from: number;
  readonly to: number;
  readonly kind: 'letters' | 'bytes';
}

/** The shortest key has 20 characters; a given value has eight. */
const LETTERS_AT_LEAST = 27;
const BYTES_AT_LEAST = 8;

/** Letters of base64, those for addresses too. */
const LETTERS = toSignSet(/[A-Za-z0-9+/_-]/);
const HEX = toSignSet(/[0-9A-Fa-f]/);
const WORD = toSignSet(/[0-9A-Za-z]/);
/** What may stand between the bytes of hex, up to four of them. */
const BETWEEN = toSignSet(/[ \t:,;-]/);
const BETWEEN_AT_MOST = 4;

/**
 * The runs of base64 or hex of which one reading is looked for, with what `look` says of it. A run of hex may have blanks,
 * tabs, colons, commas, semicolons or dashes between groups of its bytes; none goes over the end of a line.
 */
export function lookIntoRuns<T>(
  text: string,
  look: (said: string) => T | undefined,
  openReader: () => RunReader,
): { readonly from: number; readonly to: number; readonly found: T }[] {
  const found: { from: number; to: number; found: T }[] = [];
  for (let run = findRun(text, 0); run !== undefined; run = findRun(text, run.to)) {
    const one = openReader()[run.kind](text, run, look);
    if (one !== undefined) found.push({ from: run.from, to: run.to, found: one });
  }
  return found;
}

/** The first one from `start` on. */
function findRun(text: string, start: number): EncodedRun | undefined {
  for (let at = start; at < text.length;) {
    if (LETTERS[text.charCodeAt(at)] !== 1) {
      at += 1;
      continue;
    }
    const end = skipSigns(text, at, LETTERS);
    if (end - at >= LETTERS_AT_LEAST) {
      const { to, groups } = skipBytes(text, at);
      if (to >= end && groups > 1) return { from: at, to, kind: 'bytes' };
      return { from: at, to: end, kind: 'letters' };
    }
    const bytes = findBytes(text, at, end);
    if (bytes !== undefined) return bytes;
    at = end;
  }
  return undefined;
}

/** Hex that begins between `at` and `end`, behind a sign that is no letter and no figure. */
function findBytes(text: string, at: number, end: number): EncodedRun | undefined {
  let from = at;
  while (from < end && WORD[text.charCodeAt(from)] !== 1) from += 1;
  // Nearly all words.
  if (HEX[text.charCodeAt(from)] !== 1 || from === end) return undefined;
  const { to, count } = skipBytes(text, from);
  return count >= BYTES_AT_LEAST ? { from, to, kind: 'bytes' } : undefined;
}

/** Where the bytes end that begin here, how many there are, and in how many groups. */
function skipBytes(
  text: string,
  from: number,
): { readonly to: number; readonly count: number; readonly groups: number } {
  let to = from;
  let count = 0;
  let groups = 0;
  for (let at = from; ;) {
    const end = skipGroup(text, at);
    if (end === at) return { to, count, groups };
    to = end;
    count += (end - at) >> 1;
    groups += 1;
    at = end;
    while (at < end + BETWEEN_AT_MOST && BETWEEN[text.charCodeAt(at)] === 1) at += 1;
    if (at === end) return { to, count, groups };
  }
}

/** Any number of bytes, alone among what is no letter and no figure; `at` where none is there. */
function skipGroup(text: string, at: number): number {
  const hasMark = text[at] === '0' && (text[at + 1] === 'x' || text[at + 1] === 'X');
  const begin = hasMark ? at + 2 : at;
  const end = skipSigns(text, begin, HEX);
  const isWhole = end > begin && (end - begin) % 2 === 0 && WORD[text.charCodeAt(end)] !== 1;
  return isWhole ? end : at;
}
