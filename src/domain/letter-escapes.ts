import { skipSigns, toSignSet, type SignSet } from './sign-sets.ts';

/** A letter that is written as an escape, or several, and where the escape ends. */
export interface LetterEscape {
  readonly letter: string;
  readonly to: number;
}

const HEX = toSignSet(/[0-9A-Fa-f]/);
const ZEROS = toSignSet(/0/);
const DECIMAL = toSignSet(/[0-9]/);
const OCTAL = toSignSet(/[0-7]/);
/** Control characters that JSON, C and shells write as letters. What moves to another line stays as it is. */
const CONTROLS: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  e: '\u001b',
  f: '\f',
  t: '\t',
  v: '\v',
};
/** A longer number is no letter. */
const DIGITS_AT_MOST = 8;
const BACKSLASHES_AT_MOST = 4;

/** Those of HTML that stand for characters of keys. */
const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  apos: "'",
  ast: '*',
  bsol: '\\',
  colon: ':',
  comma: ',',
  commat: '@',
  dash: '-',
  dollar: '$',
  equals: '=',
  excl: '!',
  gt: '>',
  hyphen: '-',
  lowbar: '_',
  lt: '<',
  minus: '-',
  nbsp: ' ',
  num: '#',
  percnt: '%',
  period: '.',
  plus: '+',
  quest: '?',
  quot: '"',
  semi: ';',
  sol: '/',
  Tab: '\t',
  tilde: '~',
  UnderBar: '_',
};
const NAME_AT_MOST = 8;

/**
 * Whether what mostly is something else is an escape: less than eight of a mail in a row, which are values of settings, and
 * octal digits before a blank, which are of C or of CSS.
 */
export type EscapeReading = 'likely' | 'possible';

/**
 * The escape that begins at `at` with `%`, `&`, `=` or a backslash: of addresses, HTML, mails, JSON, C, CSS and the like.
 */
export function readEscape(text: string, at: number, reading: EscapeReading): LetterEscape | undefined {
  switch (text.charAt(at)) {
    case '%':
      return toLetter(readDigits(text, at + 1, { set: HEX, base: 16, most: 2, least: 2 }));
    case '&':
      return readEntity(text, at + 1);
    case '=':
      return readQuoted(text, at, reading === 'likely' ? QUOTED_AT_LEAST : 1);
    default:
      return readBackslash(text, at + 1, reading);
  }
}

interface Digits {
  readonly set: SignSet;
  readonly base: number;
  readonly most: number;
  readonly least: number;
}

interface Numeral {
  readonly code: number;
  readonly to: number;
}

function readDigits(text: string, at: number, { set, base, most, least }: Digits): Numeral | undefined {
  let to = at;
  while (to < at + most && set[text.charCodeAt(to)] === 1) to += 1;
  return to - at < least
    ? undefined
    : { code: to === at ? 0 : Number.parseInt(text.slice(at, to), base), to };
}

/** A number with any number of zeros before it. */
function readLong(text: string, at: number, digits: Pick<Digits, 'set' | 'base'>): Numeral | undefined {
  const from = skipSigns(text, at, ZEROS);
  return readDigits(text, from, { ...digits, most: DIGITS_AT_MOST, least: from > at ? 0 : 1 });
}

function toLetter(number: Numeral | undefined): LetterEscape | undefined {
  if (number === undefined || number.code > 0x10_ff_ff) return undefined;
  return { letter: String.fromCodePoint(number.code), to: number.to };
}

/** So many in a row are no value of a setting, as one alone mostly is. */
const QUOTED_AT_LEAST = 8;
const QUOTED_AT_MOST = 4_096;

/** Letters of a mail (quoted-printable), all that stand in a row. */
function readQuoted(text: string, begin: number, least: number): LetterEscape | undefined {
  const codes: number[] = [];
  let at = begin;
  while (text[at] === '=' && codes.length < QUOTED_AT_MOST) {
    const one = readDigits(text, at + 1, { set: HEX, base: 16, most: 2, least: 2 });
    if (one === undefined) break;
    codes.push(one.code);
    at = one.to;
  }
  return codes.length < least ? undefined : { letter: String.fromCharCode(...codes), to: at };
}

function readEntity(text: string, at: number): LetterEscape | undefined {
  if (text[at] === '#') {
    const isHex = text[at + 1] === 'x' || text[at + 1] === 'X';
    const digits = isHex ? { set: HEX, base: 16 } : { set: DECIMAL, base: 10 };
    const letter = toLetter(readLong(text, at + (isHex ? 2 : 1), digits));
    // Browsers read one without its end too.
    return withEnd(text, letter, ';') ?? letter;
  }
  const end = text.slice(at, at + NAME_AT_MOST + 1).indexOf(';');
  const name = end < 0 ? '' : text.slice(at, at + end);
  return Object.hasOwn(NAMED, name) ? { letter: NAMED[name] ?? '', to: at + end + 1 } : undefined;
}

function withEnd(text: string, escape: LetterEscape | undefined, end: string): LetterEscape | undefined {
  if (escape === undefined || text[escape.to] !== end) return undefined;
  return { letter: escape.letter, to: escape.to + 1 };
}

/** Up to four backslashes: a text in JSON that is in JSON has two for each. */
function readBackslash(text: string, begin: number, reading: EscapeReading): LetterEscape | undefined {
  let at = begin;
  while (text[at] === '\\' && at < begin + BACKSLASHES_AT_MOST - 1) at += 1;
  const sign = text[at] ?? '';
  // Behind two backslashes it is mostly a letter, of a key too: codes of a terminal end with one, which JSON doubles.
  if (at === begin && text[begin - 2] !== '\\' && Object.hasOwn(CONTROLS, sign))
    return { letter: CONTROLS[sign] ?? '', to: at + 1 };
  switch (sign) {
    case '/':
      return { letter: '/', to: at + 1 };
    case 'u':
      return text[at + 1] === '{'
        ? withEnd(text, toLetter(readLong(text, at + 2, { set: HEX, base: 16 })), '}')
        : toLetter(readDigits(text, at + 1, { set: HEX, base: 16, most: 4, least: 4 }));
    case 'U':
      return toLetter(readDigits(text, at + 1, { set: HEX, base: 16, most: 8, least: 8 }));
    case 'x':
      return text[at + 1] === '{'
        ? withEnd(text, toLetter(readLong(text, at + 2, { set: HEX, base: 16 })), '}')
        : toLetter(readDigits(text, at + 1, { set: HEX, base: 16, most: 2, least: 2 }));
    default:
      return (
        readStyle(text, at, reading) ??
        toLetter(readDigits(text, at, { set: OCTAL, base: 8, most: 3, least: 2 }))
      );
  }
}

const STYLE_AT_MOST = 6;

/** An escape of CSS: up to six digits, and a blank where there are fewer. */
function readStyle(text: string, at: number, reading: EscapeReading): LetterEscape | undefined {
  const number = readDigits(text, at, { set: HEX, base: 16, most: STYLE_AT_MOST, least: 2 });
  if (number === undefined || number.code < 0x20 || number.code > 0x7e) return undefined;
  const letter = String.fromCharCode(number.code);
  if (number.to - at === STYLE_AT_MOST) return { letter, to: number.to };
  const isOctal = skipSigns(text, at, OCTAL) >= number.to;
  // Right behind another number of C this is one too: in CSS a blank is between them.
  const isOfRow = OCTAL[text.charCodeAt(at - 2)] === 1;
  if (text[number.to] !== ' ' || (isOctal && (isOfRow || reading === 'likely'))) return undefined;
  return { letter, to: number.to + 1 };
}
