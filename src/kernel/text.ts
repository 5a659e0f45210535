import { LIMITS } from './limits.ts';

/**
 * C0 and C1 controls, the bidi marks that reorder a line on screen, zero-width and other invisible characters, line
 * separators, tag letters outside a flag, and lone surrogates: what can move a cursor, hide text or show it in
 * another order. A flag made of tag letters comes first, so that it is found whole and left alone.
 */
const DANGEROUS =
  /\ud83c\udff4(?:\udb40[\udc20-\udc7e])+\udb40\udc7f|\udb40[\udc00-\udc7f]|\u034f|[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Other people's text on one line of a terminal. */
export function escapeLine(text: string): string {
  return text.replace(DANGEROUS, visible);
}

/** The same for text that may have lines of its own (descriptions): newline and tab stay. */
export function escapeText(text: string): string {
  return text.replace(DANGEROUS, (found) => (found === '\n' || found === '\t' ? found : visible(found)));
}

export function hasLoneSurrogate(text: string): boolean {
  return !text.isWellFormed();
}

function visible(found: string): string {
  if (found.length > 2) return found; // a flag
  if (found === '\n') return '\\n';
  if (found === '\t') return '\\t';
  if (found === '\r') return '\\r';
  const units = Array.from({ length: found.length }, (_, at) => found.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}

/** A lone surrogate is written as U+FFFD, which takes three bytes. */
export function utf8Length(text: string): number {
  let bytes = 0;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) bytes += 1;
    else if (unit < 0x800) bytes += 2;
    else if (unit >= 0xd800 && unit <= 0xdbff && isLowSurrogate(text.charCodeAt(i + 1))) {
      bytes += 4;
      i += 1;
    } else bytes += 3;
  }
  return bytes;
}

/** NaN, which is what lies behind the end of a text, is none. */
function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/** Left to right by code unit: the order of every canonical list, whatever the locale. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The order of a database, whose texts are UTF-8: characters beyond U+FFFF come last. */
export function compareCodePoints(a: string, b: string): number {
  const end = Math.min(a.length, b.length);
  for (let at = 0; at < end; at += 1) {
    const [one, other] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (one === other) continue;
    const isOneBeyond = one >= 0xd800 && one < 0xe000;
    const isOtherBeyond = other >= 0xd800 && other < 0xe000;
    return isOneBeyond === isOtherBeyond ? one - other : isOneBeyond ? 1 : -1;
  }
  return a.length - b.length;
}

/** The text without those of these characters that it ends with. A pattern such as `/0+$/` takes the square of a text. */
export function dropEnd(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** For a text of others that another sentence follows: with one sign at its end, also where it has one. */
export function endSentence(text: string): string {
  return /[.?!…]$/.test(text) ? text : `${text}.`;
}

/** A text of several lines in one: its first line and its last one, which mostly says what failed. */
export function firstAndLast(text: string): string {
  const lines = text.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]));
  // What a colon leads to belongs to its line.
  if (lines[0]?.endsWith(':') === true) lines.splice(0, 2, lines.slice(0, 2).join(' '));
  const [first = '', last = ''] = [lines[0], lines.at(-1)];
  return lines.length < 2 ? first : `${first} … ${last}`;
}

/** A value of others inside a message: its beginning, and how much there is of it. */
export function cutText(text: string, length: number = LIMITS.error_value_length): string {
  if (text.length <= length) return text;
  const end = isLowSurrogate(text.charCodeAt(length)) ? length - 1 : length;
  return `${text.slice(0, end)}… (${text.length} characters)`;
}

/** `1 task`, `2 tasks`. */
export function countTasks(count: number): string {
  return countNoun(count, 'task');
}

/** `1 line`, `2 lines`: for nouns whose plural ends in s. */
export function countNoun(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** So many names are worth a line; more are a number. */
const NAMED = 5;

/** `a, b, c, d, e and 7 more`. */
export function nameFirst(names: readonly string[]): string {
  const shown = names.slice(0, NAMED).join(', ');
  return names.length > NAMED ? `${shown} and ${names.length - NAMED} more` : shown;
}
