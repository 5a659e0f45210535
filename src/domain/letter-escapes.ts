import { toSignSet, type SignSet } from './sign-sets.ts';

/** A letter that is written as an escape, or several, and where the escape ends. */
export interface LetterEscape {
  readonly letter: string;
  readonly to: number;
}

const HEX = toSignSet(/[0-9A-Fa-f]/);
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

/** The escape that begins at `at` with `%`, `&`, `=` or a backslash: of addresses, HTML, mails, JSON, C and the like. */
export function readEscape(text: string, at: number): LetterEscape | undefined {
  switch (text.charAt(at)) {
    case '%':
      return toLetter(readDigits(text, at + 1, { set: HEX, base: 16, most: 2, least: 2 }));
    case '&':
      return readEntity(text, at + 1);
    case '=':
      return readQuoted(text, at);
    default:
      return readBackslash(text, at + 1);
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
  return to - at < least ? undefined : { code: Number.parseInt(text.slice(at, to), base), to };
}

function toLetter(number: Numeral | undefined): LetterEscape | undefined {
  if (number === undefined || number.code > 0x10_ff_ff) return undefined;
  return { letter: String.fromCodePoint(number.code), to: number.to };
}

/** So many in a row: one alone is mostly the value of a setting. */
const QUOTED_AT_LEAST = 8;
const QUOTED_AT_MOST = 4_096;

/** Letters of a mail (quoted-printable), all that stand in a row. */
function readQuoted(text: string, begin: number): LetterEscape | undefined {
  const codes: number[] = [];
  let at = begin;
  while (text[at] === '=' && codes.length < QUOTED_AT_MOST) {
    const one = readDigits(text, at + 1, { set: HEX, base: 16, most: 2, least: 2 });
    if (one === undefined) break;
    codes.push(one.code);
    at = one.to;
  }
  return codes.length < QUOTED_AT_LEAST ? undefined : { letter: String.fromCharCode(...codes), to: at };
}

function readEntity(text: string, at: number): LetterEscape | undefined {
  if (text[at] === '#') {
    const isHex = text[at + 1] === 'x' || text[at + 1] === 'X';
    const digits = isHex ? { set: HEX, base: 16 } : { set: DECIMAL, base: 10 };
    const number = readDigits(text, at + (isHex ? 2 : 1), { ...digits, most: DIGITS_AT_MOST, least: 1 });
    return withEnd(text, toLetter(number), ';');
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
function readBackslash(text: string, begin: number): LetterEscape | undefined {
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
        ? withEnd(text, toLetter(readDigits(text, at + 2, { set: HEX, base: 16, most: 8, least: 1 })), '}')
        : toLetter(readDigits(text, at + 1, { set: HEX, base: 16, most: 4, least: 4 }));
    case 'U':
      return toLetter(readDigits(text, at + 1, { set: HEX, base: 16, most: 8, least: 8 }));
    case 'x':
      return text[at + 1] === '{'
        ? withEnd(text, toLetter(readDigits(text, at + 2, { set: HEX, base: 16, most: 8, least: 1 })), '}')
        : toLetter(readDigits(text, at + 1, { set: HEX, base: 16, most: 2, least: 2 }));
    default:
      return toLetter(readDigits(text, at, { set: OCTAL, base: 8, most: 3, least: 2 }));
  }
}
