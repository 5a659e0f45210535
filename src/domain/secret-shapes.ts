import { skipSigns, toSignSet } from './sign-sets.ts';

/**
 * Where a key ends whose beginning stands before `at`; -1 where it is none. Takes the time of what it passes over, and no
 * stack.
 */
export type KeyEnd = (text: string, at: number) => number;

/** All that follows of these characters. */
export function takeAll(sign: RegExp): KeyEnd {
  const set = toSignSet(sign);
  return (text, at) => skipSigns(text, at, set);
}

const WORD = toSignSet(/[A-Za-z0-9_-]/);

/** A word, and those behind a dot: a token that says where it belongs ends with the length and a checksum. */
export const takeRoutable: KeyEnd = (text, at) => {
  let end = skipSigns(text, at, WORD);
  while (text[end] === '.' && text[end + 1] === '0' && text[end + 3] === '.')
    end = skipSigns(text, end + 4, WORD);
  return end;
};

const VALUE = toSignSet(/[A-Za-z0-9._~+/-]/);

/** A value of a header, and the signs at the end of base64. */
export const takeHeaderValue: KeyEnd = (text, at) => {
  const end = skipSigns(text, at, VALUE);
  if (text[end] !== '=') return end;
  return text[end + 1] === '=' ? end + 2 : end + 1;
};

const NAME = toSignSet(/[A-Za-z0-9_-]/);
const SEPARATORS = toSignSet(/[ \t,]/);
const PARAMETER = toSignSet(/[^\s,"'\\]/);
const QUOTES = toSignSet(/[\\"']/);

/** What a header says as names with values (`name="value", name=value`). */
export const takeParameters: KeyEnd = (text, begin) => {
  let end = begin;
  for (let at = begin; ;) {
    const equals = skipSigns(text, at, NAME);
    if (equals === at || text[equals] !== '=') return end;
    const from = skipSigns(text, equals + 1, QUOTES);
    // The quote, without the backslashes that JSON has before it.
    const quote = from === equals + 1 ? '' : text.charAt(from - 1);
    end = quote === '' ? skipSigns(text, from, PARAMETER) : findQuote(text, from, quote);
    const next = skipSigns(text, quote === '' ? end : skipSigns(text, end, QUOTES), SEPARATORS);
    if (next === end || end === text.length) return end;
    at = next;
  }
};

/** The next quote on the same line, or the end of the line; the backslashes before a quote are not of the value. */
function findQuote(text: string, from: number, quote: string): number {
  let end = from;
  while (end < text.length && text[end] !== quote && text[end] !== '\n') end += 1;
  while (end > from && text[end - 1] === '\\') end -= 1;
  return end;
}

/** Whether one of the values of these parameters looks like a key. */
export function hasMixedValue(parameters: string): boolean {
  return parameters.split(/[\s,;="'\\]/).some((part) => part.length >= 8 && isMixed(part));
}

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const CREDENTIALS_AT_MOST = 400;

/** Whether it is base64 of a name and a password with a colon between them: many have no figure in them. */
export function isCredentials(value: string): boolean {
  let bits = 0;
  let count = 0;
  let hasColon = false;
  for (const letter of value.slice(0, CREDENTIALS_AT_MOST)) {
    const six = BASE64.indexOf(letter);
    if (six < 0) break;
    bits = ((bits << 6) | six) & 0xffff;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    const code = (bits >> count) & 0xff;
    if (code < 0x20 || code === 0x7f) return false;
    hasColon ||= code === 0x3a;
  }
  return hasColon;
}

const KEY_SIGNS = toSignSet(/[A-Za-z0-9+/=:,\s\\]/);
const KEY_END = /^-----END (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----/;
const KEY_END_LENGTH = 120;

/** The lines of a private key, and the line that ends it, if there is one. A text that only names the first line has none. */
export const takePrivateKey: KeyEnd = (text, at) => {
  if (isMention(text.slice(at, at + KEY_NEAR))) return -1;
  let end = skipSigns(text, at, KEY_SIGNS);
  while (text[end] === '-' && text[end + 1] !== '-') end = skipSigns(text, end + 1, KEY_SIGNS);
  const closed = KEY_END.exec(text.slice(end, end + KEY_END_LENGTH));
  return closed === null ? end : end + closed[0].length;
};

/** Some lines of a key. */
const KEY_NEAR = 400;

/** Whether what stands behind the first line of a key has nothing of one in it: no line end at once, and no base64. */
function isMention(behind: string): boolean {
  if (/^(?:["'`,;+]|\s){0,8}(?:\n|\\{1,4}[nr]|$)/.test(behind) || behind.includes('-----END ')) return false;
  return !behind.split(/[^A-Za-z0-9+/=]/).some((run) => run.length >= 20 && isMixed(run));
}

const LETTERS = toSignSet(/[A-Za-z]/);
const DIGITS = toSignSet(/[0-9]/);
const JOINTS = toSignSet(/[-._/~+]/);

/** Figures among letters, and no name of words. */
export function isMixed(value: string): boolean {
  return /[0-9]/.test(value) && /[A-Za-z]/.test(value) && !isJoinedWords(value);
}

/** Words that are joined, and numbers of versions after them. */
function isJoinedWords(value: string): boolean {
  for (let at = 0; ;) {
    const letters = skipSigns(value, at, LETTERS);
    const end = skipSigns(value, letters, DIGITS);
    const isWord = letters > at ? letters - at <= 20 && end - letters <= 2 : end > at && end - at <= 4;
    if (!isWord) return false;
    if (end === value.length) return true;
    at = skipSigns(value, end, JOINTS);
    if (at === end || at > end + 2) return false;
  }
}

const PART_AT_LEAST = 13;
const SIGNATURE_AT_LEAST = 16;

/** Base64 of a brace and a quote, with a blank or a line end between them where there is one. */
const JSON_BEGINS = ['eyJ', 'eyAi', 'ewog'];
const ENCRYPTED_PARTS = 5;
const TAG_AT_LEAST = 20;

/**
 * Head and body are JSON objects, the third part is the signature. Or there are five parts, of which the first is a JSON
 * object and the last is the tag of what is encrypted.
 */
export function isWebToken(value: string): boolean {
  let isHead = false;
  let isBody = false;
  let parts = 0;
  for (let from = 0; from <= value.length;) {
    const dot = value.indexOf('.', from);
    const end = dot < 0 ? value.length : dot;
    if (isBody && end - from >= SIGNATURE_AT_LEAST) return true;
    const isLong = end - from >= PART_AT_LEAST;
    const isObject = isLong && JSON_BEGINS.some((begin) => value.startsWith(begin, from));
    // The key that is encrypted may be empty, all others have letters.
    parts = isObject ? 1 : parts > 0 && (end > from || parts === 1) ? parts + 1 : 0;
    if (parts === ENCRYPTED_PARTS && end - from >= TAG_AT_LEAST) return true;
    isBody = isHead && isObject;
    isHead = isLong;
    from = end + 1;
  }
  return false;
}
