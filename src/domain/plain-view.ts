/** A text without what hides its letters, and where these stand in the text as it came. */
export interface PlainView {
  readonly text: string;
  readonly toPlace: (span: { readonly from: number; readonly to: number }) => { from: number; to: number };
}

/**
 * Codes of terminals, invisible characters, what a carriage return or backspace overwrites; and letters that are written
 * as percent, JSON, C or HTML escapes.
 */
const HIDING =
  /\u001b\[[0-9;?]{0,40}[ -/]{0,4}[@-~]|\u001b\][^\u0007\u001b\n]{0,400}(?:\u0007|\u001b\\)?|[\u0000\u00ad\u200b-\u200f\u2060-\u2064\ufeff]|\r(?!\n)|[^\n]\u0008|%([0-9A-Fa-f]{2})|\\{1,4}(?:u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|([0-7]{2,3})|(\/))|&#(?:([0-9]{1,4})|x([0-9A-Fa-f]{1,4}));/g;
const HIDES = /[\u001b\u0000\u00ad\u200b-\u200f\u2060-\u2064\ufeff\r\u0008]|%[0-9A-Fa-f]{2}|\\[ux0-7/]|&#/;

/** Escapes of escapes, and the codes of a terminal that something wrote as escapes. */
const ROUNDS = 3;

/** Undefined where nothing is hidden, as in nearly all texts. */
export function toPlainView(text: string): PlainView | undefined {
  let view: Uncovered | undefined;
  for (let round = 0; round < ROUNDS; round += 1) {
    const next = uncover(view ?? { text, starts: undefined, ends: undefined });
    if (next === undefined) break;
    view = next;
  }
  if (view === undefined) return undefined;
  const { text: plain, starts, ends } = view;
  return {
    text: plain,
    toPlace: ({ from, to }) => ({ from: starts?.[from] ?? from, to: ends?.[to - 1] ?? to }),
  };
}

interface Uncovered {
  readonly text: string;
  /** Of each character; undefined for the text as it came. */
  readonly starts: Int32Array | undefined;
  readonly ends: Int32Array | undefined;
}

function uncover({ text, starts, ends }: Uncovered): Uncovered | undefined {
  if (!HIDES.test(text)) return undefined;
  const parts: string[] = [];
  const newStarts = new Int32Array(text.length);
  const newEnds = new Int32Array(text.length);
  let length = 0;
  let at = 0;
  const keep = (from: number, to: number, width: number): void => {
    newStarts[length] = starts?.[from] ?? from;
    newEnds[length] = ends?.[to - 1] ?? to;
    length += width;
  };
  const copy = (to: number): void => {
    parts.push(text.slice(at, to));
    for (; at < to; at += 1) keep(at, at + 1, 1);
  };
  for (const match of text.matchAll(HIDING)) {
    copy(match.index);
    at += match[0].length;
    const letter = toLetter(match);
    parts.push(letter);
    if (letter !== '') keep(match.index, at, 1);
  }
  if (at === 0) return undefined;
  copy(text.length);
  return { text: parts.join(''), starts: newStarts, ends: newEnds };
}

function toLetter([, percent, json, hex, octal, slash, decimal, html]: RegExpMatchArray): string {
  if (slash !== undefined) return slash;
  const code = percent ?? json ?? hex ?? html;
  if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
  if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8));
  return decimal === undefined ? '' : String.fromCharCode(Number(decimal));
}
