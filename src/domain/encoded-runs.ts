import type { RunReader } from './read-runs.ts';
import { skipSigns, toSignSet } from './sign-sets.ts';

/** A part of a text that says another text in base64 or hex. */
interface EncodedRun {
  readonly from: number;
  readonly to: number;
  readonly kind: 'letters' | 'bytes';
}

/** The shortest key has 20 characters. */
const LETTERS_AT_LEAST = 27;
const BYTES_AT_LEAST = 10;

/** Letters of base64, those for addresses too. */
const LETTERS = toSignSet(/[A-Za-z0-9+/_-]/);
const HEX = toSignSet(/[0-9A-Fa-f]/);
const WORD = toSignSet(/[0-9A-Za-z]/);
/** What may stand between the bytes of hex, one or two of them. */
const BETWEEN = toSignSet(/[ :,-]/);

/**
 * The runs of base64 or hex of which one reading is looked for, with what `look` says of it. A run of hex may have blanks,
 * colons, commas or dashes between its bytes; none goes over the end of a line.
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
      const { to, count } = skipBytes(text, at);
      if (to >= end && count > 1) return { from: at, to, kind: 'bytes' };
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

/** Where the bytes end that begin here, and how many there are. */
function skipBytes(text: string, from: number): { readonly to: number; readonly count: number } {
  let to = from;
  let count = 0;
  for (let at = from; ;) {
    const end = skipByte(text, at);
    if (end === at) return { to, count };
    to = end;
    count += 1;
    if (BETWEEN[text.charCodeAt(end)] !== 1) return { to, count };
    at = BETWEEN[text.charCodeAt(end + 1)] === 1 ? end + 2 : end + 1;
  }
}

/** One byte, two or four, alone among what is no letter and no figure; `at` where none is there. */
function skipByte(text: string, at: number): number {
  const begin = text[at] === '0' && text[at + 1] === 'x' ? at + 2 : at;
  let end = begin;
  while (end < begin + 8 && HEX[text.charCodeAt(end)] === 1) end += 1;
  const count = end - begin;
  const isWhole = (count === 2 || count === 4 || count === 8) && WORD[text.charCodeAt(end)] !== 1;
  return isWhole ? end : at;
}
