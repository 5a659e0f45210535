import { ForgeError } from './errors.ts';
import { LIMITS } from './limits.ts';
import { readJson } from './read-json.ts';
import { cutText, dropEnd } from './text.ts';

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/**
 * JSON text to a value that survives being written again. A number that a double cannot hold is refused,
 * because the next write would silently change it. Keys such as `__proto__` stay plain data.
 */
export function parseJson(text: string, what: string): Json {
  let value: Json;
  try {
    value = readJson(text) as Json; // it gives nothing but Json
  } catch (error) {
    throw notJson(what, error);
  }
  return checkWritten(text, what).has_negative_zero ? dropNegativeZeros(value) : value;
}

/**
 * The same for a text that a BodyScan has gone through, byte by byte while it came: what it noted is all that is looked
 * at again. `sources` are the numbers that it found odd.
 */
export function parseScanned(
  text: string,
  what: string,
  { has_escaped_key, sources }: { readonly has_escaped_key: boolean; readonly sources: readonly string[] },
): Json {
  let value: Json;
  try {
    value = (has_escaped_key ? readJson(text) : JSON.parse(text)) as Json; // both give nothing but Json
  } catch (error) {
    throw notJson(what, error);
  }
  const isZero = sources.map((source) => Object.is(checkNumber(source, what), -0));
  return isZero.includes(true) ? dropNegativeZeros(value) : value;
}

/** Longer numbers may be more than a double holds; shorter ones without an exponent never are. */
export const EXACT_LENGTH = 15;

/**
 * What a value no longer tells of the text that it was read from: how its numbers were written. A reviver would be told
 * that too, at thirty times the cost of reading. The text is JSON.
 */
function checkWritten(text: string, what: string): { has_negative_zero: boolean } {
  let depth = 0;
  let has_negative_zero = false;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) at = findQuoteEnd(text, at);
    else if (unit === 0x5b || unit === 0x7b) {
      depth += 1;
      if (depth > LIMITS.json_depth) throw tooDeep(what);
    } else if (unit === 0x5d || unit === 0x7d) depth -= 1;
    else if (unit === MINUS || isDigit(unit)) {
      const end = findNumberEnd(text, at);
      if (isSuspect(text, at, end)) {
        const isZero = Object.is(checkNumber(text.slice(at, end), what), -0);
        has_negative_zero ||= isZero;
      }
      at = end - 1;
    }
  }
  return { has_negative_zero };
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const MINUS = 0x2d;
const ZERO = 0x30;

function isDigit(unit: number): boolean {
  return unit >= ZERO && unit <= 0x39;
}

/** Where a text in quotes ends that begins here. */
function findQuoteEnd(text: string, from: number): number {
  for (let end = text.indexOf('"', from + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let escapes = end;
    while (text.charCodeAt(escapes - 1) === BACKSLASH) escapes -= 1;
    if ((end - escapes) % 2 === 0) return end;
  }
  return text.length;
}

function findNumberEnd(text: string, from: number): number {
  let end = from + 1;
  for (; end < text.length; end += 1) {
    const unit = text.charCodeAt(end);
    // Digits, `.`, `+`, `-`, `e` and `E` are all that a number is made of, and none of them can follow one.
    if (!isDigit(unit) && unit !== 0x2e && unit !== 0x2b && unit !== MINUS && unit !== 0x65 && unit !== 0x45)
      break;
  }
  return end;
}

/** Whether a number has to be looked at: long, with an exponent, or a zero with a sign. */
function isSuspect(text: string, from: number, end: number): boolean {
  if (end - from > EXACT_LENGTH) return true;
  if (text.charCodeAt(from) === MINUS && text.charCodeAt(from + 1) === ZERO) return true;
  for (let at = from; at < end; at += 1) if ((text.charCodeAt(at) | 0x20) === 0x65) return true;
  return false;
}

function notJson(what: string, error: unknown): ForgeError {
  return new ForgeError('invalid_input', `${what} is not valid JSON: ${(error as Error).message}`, {
    cause: error,
  });
}

export function tooDeep(what: string): ForgeError {
  return new ForgeError(
    'invalid_input',
    `${what} is nested too deep; the limit is ${LIMITS.metadata_depth} levels`,
    {
      details: { limit: LIMITS.metadata_depth },
      cause: new RangeError(`more than ${LIMITS.json_depth} levels`),
    },
  );
}

function checkNumber(source: string, what: string): number {
  const value = Number(source);
  const safe = Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value));
  const isShort = source.length <= LIMITS.json_number_length;
  if (safe && isShort && toDecimal(source) === toDecimal(String(value))) return value;
  throw new ForgeError(
    'invalid_input',
    `${what} holds the number ${cutText(source)}, which JSON readers cannot keep exactly`,
    {
      hint: 'Write it as a string: "…"',
      details: { limit: Number.MAX_SAFE_INTEGER },
    },
  );
}

/** -0 is written as 0, so it is read as 0. */
function dropNegativeZeros(value: Json): Json {
  if (typeof value === 'number') return value + 0;
  // What was just read belongs to no one else yet.
  const open = [value] as Record<string, Json>[];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    for (const key of Object.keys(next)) {
      const child = next[key];
      if (Object.is(child, -0)) next[key] = 0;
      else if (typeof child === 'object' && child !== null) open.push(child as Record<string, Json>);
    }
  }
  return value;
}

/** The same number in one spelling, sign left out: `1.50e1` and `15` are both `15e0`. */
function toDecimal(text: string): string {
  const [, whole = '', fraction = '', exponent = '0'] =
    /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const significant = dropEnd(digits, '0');
  if (significant === '') return '0';
  return `${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}

export function jsonDepth(value: Json): number {
  let deepest = 0;
  const open: { value: Json; depth: number }[] = [{ value, depth: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next.value !== 'object' || next.value === null) continue;
    const depth = next.depth + 1;
    deepest = Math.max(deepest, depth);
    for (const child of Object.values(next.value) as Json[]) open.push({ value: child, depth });
  }
  return deepest;
}

export function checkJsonDepth(value: Json, what: string): void {
  const depth = jsonDepth(value);
  if (depth <= LIMITS.metadata_depth) return;
  throw new ForgeError(
    'invalid_input',
    `${what} is nested ${depth} levels deep; the limit is ${LIMITS.metadata_depth}`,
    {
      details: { depth, limit: LIMITS.metadata_depth },
    },
  );
}

/** Same value, same text: object keys sorted by code unit at every level. */
export function canonicalJson(value: Json): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${(value as readonly Json[]).map(canonicalJson).join(',')}]`;
  const object = value as JsonObject;
  const parts = Object.keys(object)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(object[key] as Json)}`); // the key was just listed
  return `{${parts.join(',')}}`;
}

/** An object keyed by other people's words: it has no prototype to overwrite or to find by accident. */
export function emptyObject<V>(): Record<string, V> {
  return Object.create(null) as Record<string, V>;
}
