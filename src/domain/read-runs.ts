import { createUtf8Reader } from './read-utf8.ts';
import { toSignSet } from './sign-sets.ts';

interface Run {
  readonly from: number;
  readonly to: number;
}

type Read = <T>(text: string, run: Run, look: (said: string) => T | undefined) => T | undefined;

export interface RunReader {
  readonly letters: Read;
  readonly bytes: Read;
}

const HEX_AT_LEAST = 40;
const HEX = toSignSet(/[0-9A-Fa-f]/);

/** What each letter of base64 stands for, by its code; those for addresses too. */
const VALUES = toValues();

function toValues(): Uint8Array {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_';
  const values = new Uint8Array(128);
  for (let at = 0; at < letters.length; at += 1) values[letters.charCodeAt(at)] = at < 64 ? at : at - 2;
  return values;
}

/**
 * Reads runs of base64 and hex from every place at which what they say may begin, and gives what `look` says first of the
 * texts in it. In one memory that is used for all runs: most are short, and there may be many.
 */
export function createRunReader(): RunReader {
  let bytes = new Uint8Array(256);
  let values = new Uint8Array(256);
  const reserve = (length: number): void => {
    if (length <= bytes.length) return;
    bytes = new Uint8Array(Math.max(length, bytes.length * 2));
    values = new Uint8Array(bytes.length);
  };
  const readText = createUtf8Reader();
  return {
    letters(text, { from, to }, look) {
      reserve(to - from);
      if (isHex(text, from, to)) {
        const said = readDigits(text, { from, to }, look);
        if (said !== undefined) return said;
      }
      const length = to - from;
      for (let at = 0; at < length; at += 1) values[at] = VALUES[text.charCodeAt(from + at)] ?? 0;
      for (let start = 0; start < 4; start += 1) {
        const said = readText(bytes, joinValues(values, { from: start, to: length }, bytes), look);
        if (said !== undefined) return said;
      }
      return undefined;
    },
    bytes(text, { from, to }, look) {
      reserve(to - from);
      const digits = text.slice(from, to).replaceAll(/0[xX]|[ \t:,;-]/g, '');
      return readDigits(digits, { from: 0, to: digits.length }, look);
    },
  };

  function readDigits<T>(
    text: string,
    { from, to }: Run,
    look: (said: string) => T | undefined,
  ): T | undefined {
    for (const start of [from, from + 1]) {
      const said = readText(bytes, readHex(text, { from: start, to }, bytes), look);
      if (said !== undefined) return said;
    }
    return undefined;
  }
}

function isHex(text: string, from: number, to: number): boolean {
  if (to - from < HEX_AT_LEAST) return false;
  for (let at = from; at < to; at += 1) if (HEX[text.charCodeAt(at)] !== 1) return false;
  return true;
}

/** Into `bytes`; gives how many. */
function readHex(text: string, { from, to }: Run, bytes: Uint8Array): number {
  let count = 0;
  for (let at = from; at + 1 < to; at += 2) {
    bytes[count] = (digitOf(text.charCodeAt(at)) << 4) | digitOf(text.charCodeAt(at + 1));
    count += 1;
  }
  return count;
}

function digitOf(code: number): number {
  return code <= 57 ? code - 48 : (code | 32) - 87;
}

/** Four values of base64 are three bytes. Into `bytes`; gives how many. */
function joinValues(values: Uint8Array, { from, to }: Run, bytes: Uint8Array): number {
  let count = 0;
  let at = from;
  for (; at + 3 < to; at += 4) {
    const group =
      ((values[at] ?? 0) << 18) |
      ((values[at + 1] ?? 0) << 12) |
      ((values[at + 2] ?? 0) << 6) |
      (values[at + 3] ?? 0);
    bytes[count] = group >> 16;
    bytes[count + 1] = group >> 8;
    bytes[count + 2] = group;
    count += 3;
  }
  const left = to - at;
  if (left < 2) return count;
  const bits =
    ((values[at] ?? 0) << 12) | ((values[at + 1] ?? 0) << 6) | (left === 3 ? (values[at + 2] ?? 0) : 0);
  bytes[count] = bits >> 10;
  bytes[count + 1] = bits >> 2;
  return count + left - 1;
}
