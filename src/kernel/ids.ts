import { LIMITS } from './limits.ts';

const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyz';
const SHORTEST = 4;

/** A source of bytes that nobody can guess; `crypto.randomBytes` in life, a script in tests. */
export type RandomBytes = (size: number) => Uint8Array;

/**
 * How many characters the next id of a project with `count` tasks gets: the shortest length at which the
 * birthday odds of any collision stay under the limit (4 up to 183 tasks, 5 up to 1,102, 6 up to 6,614 …).
 */
export function idLength(count: number): number {
  const odds = (length: number): number => -Math.expm1(-(count * count) / (2 * ALPHABET.length ** length));
  let length = SHORTEST;
  while (odds(length) > LIMITS.id_collision_odds) length += 1;
  return length;
}

export function generateTaskId(prefix: string, length: number, randomBytes: RandomBytes): string {
  return `${prefix}-${randomBase36(length, randomBytes)}`;
}

/** Unbiased: bytes from 252 up are thrown away, because 36 does not divide 256. */
export function randomBase36(length: number, randomBytes: RandomBytes): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length * 2)) {
      if (byte < 252 && text.length < length) text += ALPHABET[byte % ALPHABET.length];
    }
  }
  return text;
}

const PREFIX = /^[a-z0-9]{2,4}$/;
const TASK_ID = /^[a-z0-9]{2,4}-[a-z0-9]{4,}$/;

export function isIdPrefix(text: string): boolean {
  return PREFIX.test(text);
}

export function isTaskId(text: string): boolean {
  return TASK_ID.test(text);
}

export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && UUID.test(value);
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
