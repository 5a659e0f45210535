import { invisibleWidth } from './invisible-signs.ts';
import { readEscape } from './letter-escapes.ts';
import { createPlaceMap, type PlaceMap } from './place-map.ts';
import { toSignSet } from './sign-sets.ts';
import { skipTerminalCode } from './terminal-codes.ts';

/** A text without what hides its letters, and where these stand in the text as it came. */
export interface PlainView {
  readonly text: string;
  readonly toPlace: (span: { readonly from: number; readonly to: number }) => { from: number; to: number };
}

/** Escapes of escapes, and the codes of a terminal that something wrote as escapes. */
const ROUNDS = 3;

/** What a terminal does with its codes: they are not shown; or the letters that they are made of, if it knows no codes. */
type Codes = 'hidden' | 'letters';

/**
 * The text as a person reads it: without codes of terminals, invisible characters and what is overwritten, and with the
 * letters that stand as percent, JSON, C, HTML or mail escapes. One for each round, because what looks like an escape may be of
 * the key; and twice where there are codes, because what looks like one may be letters of a key behind a single control
 * character. Empty where nothing is hidden, as in nearly all texts.
 */
export function listPlainViews(text: string): PlainView[] {
  const { views, hasCodes } = uncoverAll(text, 'hidden');
  return hasCodes ? [...views, ...uncoverAll(text, 'letters').views] : views;
}

function uncoverAll(text: string, codes: Codes): { readonly views: PlainView[]; readonly hasCodes: boolean } {
  const views: PlainView[] = [];
  let hasCodes = false;
  let last: PlainView = { text, toPlace: ({ from, to }) => ({ from, to }) };
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = last;
    const next = uncover(before.text, codes);
    if (next === undefined) break;
    hasCodes ||= next.hasCodes;
    last = { text: next.text, toPlace: (span) => before.toPlace(next.map.toPlace(span)) };
    views.push(last);
  }
  return { views, hasCodes };
}

const PLAIN = 0;
/** A control character other than those below. */
const CONTROL = 1;
const ESC = 2;
const RETURN = 3;
const BACKSPACE = 4;
const ESCAPE = 5;
/** By the code of a character of ASCII. A tab and a line end are seen. */
const KINDS = toKinds();

function toKinds(): Uint8Array {
  const kinds = toSignSet(/[\u0000-\u0008\u000b-\u001f\u007f]/).slice();
  kinds[0x08] = BACKSPACE;
  kinds[0x0d] = RETURN;
  kinds[0x1b] = ESC;
  for (const sign of '%&=\\') kinds[sign.charCodeAt(0)] = ESCAPE;
  return kinds;
}

interface Uncovered {
  readonly text: string;
  readonly map: PlaceMap;
  /** Whether a code of more than one character was left out. */
  readonly hasCodes: boolean;
}

/** What one of the signs below needs at least; a text without it is passed over ten times as fast. */
const MAY_HIDE =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ud82f\ud834\udb40-\udb43\ufeff\uffa0\ufff0-\ufffb]|\u034f|[\ufe00-\ufe0f]|%[0-9A-Fa-f]{2}|\\[abefuUvx0-7/]|&[A-Za-z#]|=[0-9A-Fa-f]{2}=/;

/** One round; undefined where nothing is hidden. */
function uncover(text: string, codes: Codes): Uncovered | undefined {
  if (!MAY_HIDE.test(text)) return undefined;
  const parts: string[] = [];
  const map = createPlaceMap();
  let hasCodes = false;
  let kept = 0;
  /** What stands from `from` to `to` is left out, or is one letter. */
  const replace = (from: number, to: number, letter = ''): void => {
    if (from > kept) parts.push(text.slice(kept, from));
    if (letter !== '') parts.push(letter);
    map.add({ kept: from - kept, from, to, letters: letter.length });
    kept = to;
  };
  for (let at = 0; at < text.length;) {
    const code = text.charCodeAt(at);
    const kind = code < 128 ? (KINDS[code] ?? PLAIN) : kindBeyond(code);
    let to = at + 1;
    if (kind === ESC) {
      // Not where codes are letters: a string goes on for 1,024 characters, and each of them may begin another one.
      if (codes === 'hidden') to = skipTerminalCode(text, at);
      hasCodes ||= to > at + 1;
      replace(at, to);
    } else if (kind === CONTROL) {
      replace(at, to);
    } else if (kind === RETURN) {
      if (text[to] !== '\n') replace(at, to);
    } else if (kind === BACKSPACE) {
      while (text[to] === '\b') to += 1;
      replace(findOverwritten(text, { at, to, kept }), to);
    } else if (kind === ESCAPE) {
      const escape = readEscape(text, at);
      if (escape !== undefined) replace(at, escape.to, escape.letter);
      to = escape?.to ?? to;
    } else if (kind === BEYOND) {
      const width = invisibleWidth(text, at, code);
      if (width > 0) replace(at, at + width);
      to = at + Math.max(1, width);
    }
    at = to;
  }
  if (kept === 0) return undefined;
  parts.push(text.slice(kept));
  return { text: parts.join(''), map, hasCodes };
}

const BEYOND = 6;

/** Control characters from 0x80 to 0x9f begin codes as ESC does. */
function kindBeyond(code: number): number {
  if (code < 0xa0) return ESC;
  return BEYOND;
}

/** As many characters before `at` as there are backspaces, on the same line. */
function findOverwritten(text: string, { at, to, kept }: { at: number; to: number; kept: number }): number {
  let from = at;
  while (from > kept && at - from < to - at && text[from - 1] !== '\n') from -= 1;
  return from;
}
