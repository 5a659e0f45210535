import type { KeyEnd } from './secret-shapes.ts';
import { toSignSet } from './sign-sets.ts';

/** Where an address ends, or the place of its password. A quote is looked at with what follows it. */
const STOPS = toSignSet(/[\s\\"<>`]/);
const WORD = toSignSet(/[A-Za-z0-9]/);
const LETTERS_AT_LEAST = 4;

/**
 * The place of the `@` behind the password whose first character stands before `at`; `at` where there is none. A password
 * may have `:`, `@`, `/` and quotes in it, which no address should: the last `@` before the first `/` ends it, else the first one
 * behind that. Never goes on into another address, so that a text of many of them is read once.
 */
export const takePassword: KeyEnd = (text, at) => {
  let end = at;
  for (let place = at - 1; place < text.length; place += 1) {
    const code = text.charCodeAt(place);
    if (STOPS[code] === 1 || (text[place] === "'" && WORD[text.charCodeAt(place + 1)] !== 1)) break;
    if (text[place] === '@' && place > at) end = place;
    if (text[place] !== '/') continue;
    if (end > at || text.startsWith('//', place)) break;
    return takeWithSlash(text, at, place);
  }
  return isImage(text, end) ? at : end;
};

/** The name of an image and its version are followed by a digest. */
function isImage(text: string, at: number): boolean {
  return /^@sha(?:256|384|512):/.test(text.slice(at, at + 8));
}

/** What stands before the slash may be the port of a host, and then the rest is a path. */
function takeWithSlash(text: string, at: number, slash: number): number {
  if (/^\d{1,5}$/.test(text.slice(at - 1, slash)) || isHost(text, at - 2)) return at;
  for (let place = slash; place < text.length; place += 1) {
    if (STOPS[text.charCodeAt(place)] === 1 || text[place] === "'" || text.startsWith('//', place)) return at;
    if (text[place] === '@') return WORD[text.charCodeAt(place + 1)] === 1 ? place : at;
  }
  return at;
}

const USER_AT_MOST = 100;

/** Whether the name that ends at the colon has a dot in it, as names of hosts do. */
function isHost(text: string, colon: number): boolean {
  const name = text.slice(Math.max(0, colon - USER_AT_MOST), colon);
  return name.slice(name.lastIndexOf('/') + 1).includes('.');
}

/** Whether it is one, and not what people write in examples or what a program puts in its place. */
export function isPassword(value: string): boolean {
  return value.length >= LETTERS_AT_LEAST && !PLACEHOLDER.test(value) && !isVariable(value);
}

const PLACEHOLDER =
  /^(?:\{.*\}|\[.*\]|\(.*\)|\*+|\.{3,}|x+|pass(?:word|wd|phrase)?|pw|pwd|passw0rd|secret|token|user(?:name)?|postgres|mysql|root|admin|guest|anonymous|port|test|example|changeme|your[-_a-z]*|my[-_]?(?:db|user)?[-_]?(?:pass(?:word|wd)?|pw|pwd|secret|token|key)|[A-Z_]*(?:PASS(?:WORD)?|SECRET|TOKEN|KEY))$/i;

/** A name in the notation of shells, of Windows or of a format; those of passwords that begin so have figures and both cases. */
function isVariable(value: string): boolean {
  if (/^\$[{(]|^%(?:[a-z]$|\(|\w+%$)/.test(value)) return true;
  return /^\$\w+$/.test(value) && !(/\d/.test(value) && /[a-z]/.test(value));
}
