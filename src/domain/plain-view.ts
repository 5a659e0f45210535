import { invisibleWidth } from './invisible-signs.ts';
import { readEscape } from './letter-escapes.ts';
import { createPlainText, type PlainText } from './plain-text.ts';
import { toSignSet } from './sign-sets.ts';
import { countBack, skipTerminalCode } from './terminal-codes.ts';

/** A text without what hides its letters, and where these stand in the text as it came. */
export interface PlainView {
  readonly text: string;
  readonly toPlace: (span: { readonly from: number; readonly to: number }) => { from: number; to: number };
}

/** Escapes of escapes, and the codes of a terminal that something wrote as escapes. */
const ROUNDS = 3;

/**
 * What a terminal does with its codes: they are not shown, and letters behind which it goes back are overwritten; they
 * are not shown, and it stays where it is; or it knows no codes, and the letters that they are made of are shown. As the
 * first one, but with all that may be an escape, with none, or with those of JSON, one level at a time.
 */
type Codes = 'obeyed' | 'hidden' | 'letters' | 'possible' | 'unescaped' | 'json';

/**
 * The text as a person reads it: without codes of terminals, invisible characters and what is overwritten, and with the
 * letters that stand as percent, JSON, C, HTML or mail escapes. One for each round, because what looks like an escape may be of
 * the key, and again without any, where there are codes beside them; again where something is overwritten, because that is read in a file; and again where there are codes, because
 * what looks like one may be letters of a key behind a single control character. Empty where nothing is hidden, as in
 * nearly all texts.
 */
export function listPlainViews(text: string): PlainView[] {
  const { views, hasCodes, hasGone, hasEscapes, hasSigns } = uncoverAll(text, 'obeyed');
  return [
    ...views,
    ...(hasEscapes && hasSigns ? uncoverAll(text, 'unescaped').views : []),
    ...(BACKSLASH_BEFORE_CODE.test(text) ? uncoverAll(text, 'json').views : []),
    ...(hasGone ? uncoverAll(text, 'hidden').views : []),
    ...(hasCodes ? uncoverAll(text, 'letters').views : []),
    ...listPossibleViews(text),
  ];
}

/** A backslash of its own, and behind it a sign that is not seen, as JSON has them: nested escapes look the same. */
const BACKSLASH_BEFORE_CODE = /\\\\\\u00[01]/;

/** A letter of keys with something behind it: values of settings are mostly a number, or followed by a blank. */
const POSSIBLE_ESCAPE =
  /=(?!\d{2,8}(?![^\s,;)]))(?:2[1-9A-Fa-f]|[3-6][0-9A-Fa-f]|7[0-9A-Ea-e])[^\s]|\\[2-7][0-7] [^\s]/;

/** Of the lines alone that have such an escape: most are none, and there may be one in any text. */
function listPossibleViews(text: string): PlainView[] {
  if (!POSSIBLE_ESCAPE.test(text)) return [];
  const lines = createPlainText(text);
  for (let at = 0; at < text.length;) {
    const end = text.indexOf('\n', at) + 1 || text.length;
    if (!POSSIBLE_ESCAPE.test(text.slice(at, end))) lines.replace(at, end);
    at = end;
  }
  const left = lines.finish();
  const { views } = uncoverAll(left?.text ?? text, 'possible');
  if (left === undefined) return views;
  return views.map((view) => ({ ...view, toPlace: (span) => left.map.toPlace(view.toPlace(span)) }));
}

interface Seen {
  /** Whether a code of more than one character was left out. */
  hasCodes: boolean;
  /** Whether a letter was overwritten. */
  hasGone: boolean;
  /** Whether there was an escape, and whether a code or an invisible character. */
  hasEscapes: boolean;
  hasSigns: boolean;
}

function uncoverAll(text: string, codes: Codes): { readonly views: PlainView[] } & Readonly<Seen> {
  const views: PlainView[] = [];
  const seen: Seen = { hasCodes: false, hasGone: false, hasEscapes: false, hasSigns: false };
  let last: PlainView = { text, toPlace: ({ from, to }) => ({ from, to }) };
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = last;
    const next = uncover(before.text, codes, seen);
    if (next === undefined) break;
    last = { text: next.text, toPlace: (span) => before.toPlace(next.map.toPlace(span)) };
    views.push(last);
  }
  return { views, ...seen };
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

/** What one of the signs below needs at least; a text without it is passed over ten times as fast. */
const MAY_HIDE =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ud82f\ud834\udb40-\udb43\ufeff\uffa0\ufff0-\ufffb]|\u034f|[\ufe00-\ufe0f]|%[0-9A-Fa-f]{2}|\\[abeftuUvx0-7/]|&[A-Za-z#]|=[0-9A-Fa-f]{2}=/;

/** One round; undefined where nothing is hidden. */
function uncover(text: string, codes: Codes, seen: Seen): ReturnType<PlainText['finish']> {
  if (!MAY_HIDE.test(text) && !(codes === 'possible' && POSSIBLE_ESCAPE.test(text))) return undefined;
  const plain = createPlainText(text);
  for (let at = 0; at < text.length;) {
    const code = text.charCodeAt(at);
    const kind = code < 128 ? (KINDS[code] ?? PLAIN) : kindBeyond(code);
    let to = at + 1;
    if (kind !== PLAIN && kind !== ESCAPE && kind !== BEYOND) seen.hasSigns = true;
    if (kind === ESC) {
      to = leaveOutCode(text, at, { plain, codes, seen });
    } else if (kind === CONTROL) {
      plain.replace(at, to);
    } else if (kind === RETURN) {
      if (text[to] !== '\n') plain.replace(at, to);
    } else if (kind === BACKSPACE) {
      while (text[to] === '\b') to += 1;
      if (codes === 'hidden') plain.replace(at, to);
      else plain.overwrite(at, to, to - at);
      seen.hasGone = true;
    } else if (kind === ESCAPE) {
      const escape = readUncovered(text, at, codes);
      if (escape !== undefined) plain.replace(at, escape.to, escape.letter);
      seen.hasEscapes ||= escape !== undefined;
      to = escape?.to ?? to;
    } else if (kind === BEYOND) {
      const width = invisibleWidth(text, at, code);
      if (width > 0) plain.replace(at, at + width);
      seen.hasSigns ||= width > 0;
      to = at + Math.max(1, width);
    }
    at = to;
  }
  return plain.finish();
}

function readUncovered(text: string, at: number, codes: Codes): ReturnType<typeof readEscape> {
  if (codes === 'unescaped') return undefined;
  if (codes === 'json') return readJsonEscape(text, at);
  return readEscape(text, at, codes === 'possible' ? 'possible' : 'likely');
}

function readJsonEscape(text: string, at: number): ReturnType<typeof readEscape> {
  if (text.startsWith('\\\\', at)) return { letter: '\\', to: at + 2 };
  const [, code] = /^\\u([0-9a-f]{4})/i.exec(text.slice(at, at + 6)) ?? [];
  return code === undefined
    ? undefined
    : { letter: String.fromCharCode(Number.parseInt(code, 16)), to: at + 6 };
}

/** Gives the place behind it. */
function leaveOutCode(
  text: string,
  at: number,
  { plain, codes, seen }: { readonly plain: PlainText; readonly codes: Codes; readonly seen: Seen },
): number {
  // Not where codes are letters: a string goes on for 1,024 characters, and each of them may begin another one.
  const to = codes === 'letters' ? at + 1 : skipTerminalCode(text, at);
  seen.hasCodes ||= to > at + 1;
  const back = codes !== 'hidden' && codes !== 'letters' ? countBack(text, at, to) : 0;
  if (back === 0) plain.replace(at, to);
  else plain.overwrite(at, to, back);
  seen.hasGone ||= back > 0;
  return to;
}

const BEYOND = 6;

/** Control characters from 0x80 to 0x9f begin codes as ESC does. */
function kindBeyond(code: number): number {
  if (code < 0xa0) return ESC;
  return BEYOND;
}
