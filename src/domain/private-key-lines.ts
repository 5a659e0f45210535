import type { PlainView } from './plain-view.ts';
import { isMixed } from './secret-shapes.ts';
import { skipSigns, toSignSet } from './sign-sets.ts';

interface Span {
  readonly from: number;
  readonly to: number;
}

/** What a text needs at least for a private key to begin in it. */
export function mayBeginKey(text: string): boolean {
  return text.includes('PRIVATE KEY') || text.includes('Private-Lines: ');
}

const KEY_BEGINS = /-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----|Private-Lines: \d/;
const KEY_ENDS =
  /-----END (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----|-----END |Private-(?:MAC|Hash): [0-9a-f]{0,64}/;

/**
 * For lines one after the other: the parts of each that belong to a private key which began on one before it. What programs
 * write before and behind each line of a file (`+`, `> `, names, numbers and times, quotes) is known by the line on which
 * the key begins; what hides letters is looked through. `listViews` gives the plain views of the line.
 */
export function createKeyTracker(): (line: string, listViews: () => readonly PlainView[]) => Span[] {
  /** What stands before the key on the line on which it begins; undefined outside of one. */
  let before: string | undefined;

  /** A line as it is read, or a part of it up to a line end that is written as an escape. */
  function track(line: string): Span | undefined {
    let found: Span | undefined;
    let rest = 0;
    if (before !== undefined) {
      const end = KEY_ENDS.exec(line);
      if (end === null && !isKeyLine(line, before)) before = undefined;
      else found = { from: 0, to: end === null ? line.length : end.index + end[0].length };
      if (end !== null) before = undefined;
      rest = found?.to ?? 0;
    }
    const begin = mayBeginKey(line) ? KEY_BEGINS.exec(line.slice(rest)) : null;
    if (begin === null) return found;
    const at = rest + begin.index;
    if (!KEY_ENDS.test(line.slice(at))) before = line.slice(0, at);
    return found;
  }

  /** All parts of one reading of a line. */
  function trackParts(text: string): Span[] {
    if (before === undefined && !mayBeginKey(text)) return [];
    return listParts(text).flatMap(({ from, to }) => {
      const span = track(text.slice(from, to));
      return span === undefined ? [] : [{ from: from + span.from, to: from + span.to }];
    });
  }

  return (line, listViews) => {
    const entered = before;
    const spans = trackParts(line);
    if (spans.length > 0) return spans;
    const shown = before;
    for (const view of listViews()) {
      before = entered;
      const hidden = trackParts(view.text);
      if (hidden.length > 0 || before !== undefined) return hidden.map(view.toPlace);
    }
    before = shown;
    return [];
  };
}

/** In JSON and in sources the lines of a key are one, with escapes for line ends. */
function listParts(text: string): Span[] {
  if (!text.includes('\\')) return [{ from: 0, to: text.length }];
  const parts: Span[] = [];
  let from = 0;
  for (const end of text.matchAll(/\\[nr]/g)) {
    parts.push({ from, to: end.index });
    from = end.index + end[0].length;
  }
  return [...parts, { from, to: text.length }];
}

/** Base64, and the headers of an encrypted key; blanks and a bar where a program indents what it shows. */
const KEY_LINE = toSignSet(/[\sA-Za-z0-9+/=:,|-]/);
const KEY_WORD = toSignSet(/[A-Za-z0-9+/=]/);
const KEY_HEADER = /^(?:Version|Comment|Hash|Charset|Proc-Type|DEK-Info): /;
/** What stands before and behind a line in sources, quotes, comments and diffs. */
const DECORATION = toSignSet(/[\s"'`>|+#*$,;:()[\]{}\\/-]/);
/** Behind another beginning than the key has itself only what looks like base64 and like nothing else. */
const WORD_AT_LEAST = 24;

function isKeyLine(line: string, before: string): boolean {
  const bare = trimDecoration(line.slice(skipAlike(line, before)));
  if (skipSigns(line, 0, KEY_LINE) === line.length || isKeyWord(bare) || KEY_HEADER.test(bare)) return true;
  const word = bare.slice(Math.max(bare.lastIndexOf(' '), bare.lastIndexOf('\t'), bare.lastIndexOf('"')) + 1);
  return word.length >= WORD_AT_LEAST && isKeyWord(word) && isMixed(word);
}

function isKeyWord(word: string): boolean {
  return skipSigns(word, 0, KEY_WORD) === word.length;
}

function trimDecoration(line: string): string {
  let from = skipSigns(line, 0, DECORATION);
  // A blank of another width; beyond ASCII, so in no set.
  while (line[from] === '\u00a0') from = skipSigns(line, from + 1, DECORATION);
  let to = line.length;
  while (to > from && DECORATION[line.charCodeAt(to - 1)] === 1) to -= 1;
  return line.slice(from, to);
}

const DIGITS = toSignSet(/[0-9]/);
const BLANKS = toSignSet(/\s/);

/** The place behind what stands before each line: the same, but for its numbers and blanks; 0 where it is not there. */
function skipAlike(line: string, before: string): number {
  let at = 0;
  for (let from = 0; from < before.length;) {
    const set = [DIGITS, BLANKS].find((one) => one[before.charCodeAt(from)] === 1);
    if (set === undefined) {
      if (line[at] !== before[from]) return 0;
      at += 1;
      from += 1;
      continue;
    }
    const end = skipSigns(line, at, set);
    if (end === at) return 0;
    at = end;
    from = skipSigns(before, from, set);
  }
  return at;
}
