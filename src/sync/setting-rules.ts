import { isAbsolute } from 'node:path';
import type { Price } from '#domain/price-table.ts';
import { parsePathPattern } from '#domain/path-pattern.ts';
import { LIMITS } from '#kernel/limits.ts';

/** What a value has to be, and what it is where nobody says. */
export interface Rule<T> {
  readonly allowed: string;
  readonly parse: (value: unknown) => T | undefined;
  readonly fallback: T;
  /** A repository has no say in it. */
  readonly personal?: true;
}

export function rule<T, F>(
  allowed: string,
  accepts: (value: unknown) => value is T,
  fallback: F,
): Rule<T | F> {
  return { allowed, parse: (value) => (accepts(value) ? value : undefined), fallback };
}

export function list(allowed: string, accepts: (value: unknown) => value is string): Rule<readonly string[]> {
  const isList = (value: unknown): value is readonly string[] =>
    Array.isArray(value) && value.length <= LIMITS.ci_steps && value.every(accepts);
  return rule(`${allowed}, at most ${LIMITS.ci_steps}`, isList, []);
}

export function commands(): Rule<readonly string[]> {
  return list(`a list of commands, each 1 to ${LIMITS.ci_step_length} characters`, isCommand);
}

export function wholeNumber(least: number, most: number, fallback: number): Rule<number> {
  const accepts = (value: unknown): value is number =>
    Number.isInteger(value) && isBetween(value, least, most);
  return rule(`a whole number from ${least} to ${most}`, accepts, fallback);
}

export function someNumber(least: number, most: number, fallback: number): Rule<number> {
  const accepts = (value: unknown): value is number => isBetween(value, least, most);
  return rule(`a number from ${least} to ${most}`, accepts, fallback);
}

export function optionalNumber(): Rule<number | undefined> {
  const accepts = (value: unknown): value is number => isBetween(value, 0, Number.MAX_SAFE_INTEGER);
  return rule('a number from 0 on', accepts, undefined);
}

/** A number for each of the names somebody gave. */
export function caps(most: number): Rule<ReadonlyMap<string, number>> {
  const parse = (value: unknown): ReadonlyMap<string, number> | undefined => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    const entries = Object.entries<unknown>({ ...value });
    const good = entries.filter(
      (entry): entry is [string, number] => Number.isInteger(entry[1]) && isBetween(entry[1], 1, most),
    );
    return good.length === entries.length ? new Map(good) : undefined;
  };
  return { allowed: `an object with whole numbers from 1 to ${most}`, parse, fallback: new Map() };
}

/** What each of the named models costs, in USD for a million tokens. */
export function prices(): Rule<ReadonlyMap<string, Price>> {
  const parse = (value: unknown): ReadonlyMap<string, Price> | undefined => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    const entries = Object.entries<unknown>({ ...value }).map(
      ([name, price]) => [name, toPrice(price)] as const,
    );
    const good = entries.filter((entry): entry is [string, Price] => entry[1] !== undefined);
    return good.length === entries.length ? new Map(good) : undefined;
  };
  const allowed =
    'an object with {"input": 1, "cached": 0.1, "output": 5} for each model: USD for a million tokens';
  return { allowed, parse, fallback: new Map() };
}

/** What comes from a cache costs as much as what does not, where nobody says. */
function toPrice(value: unknown): Price | undefined {
  const { input, cached = input, output } = { ...(value as Readonly<Record<string, unknown>> | null) };
  const isPrice = (one: unknown): one is number => isBetween(one, 0, 1_000_000);
  return isPrice(input) && isPrice(cached) && isPrice(output) ? { input, cached, output } : undefined;
}

function isBetween(value: unknown, least: number, most: number): value is number {
  return typeof value === 'number' && value >= least && value <= most;
}

export function isBoolean(value: unknown): value is boolean {
  return typeof value === 'boolean';
}

function isCommand(value: unknown): value is string {
  return isText(value) && value.trim() !== '' && value.length <= LIMITS.ci_step_length;
}

export function isAbsolutePath(value: unknown): value is string {
  return isText(value) && isAbsolute(value);
}

/** `/x`, or `~/x` in the home of the person. */
export function isPathOfMachine(value: unknown): value is string {
  return isAbsolutePath(value) || (isText(value) && value.startsWith('~/'));
}

/** It names nothing outside, and nothing of git's own. */
export function isInside(value: unknown): value is string {
  if (!isText(value) || value.startsWith('/') || /^[a-z]:/i.test(value)) return false;
  const parts = value.split(/[\\/]/);
  return !parts.includes('..') && parts[0]?.toLowerCase() !== '.git';
}

/** A glob whose files are all inside. */
export function isPattern(value: unknown): value is string {
  return isInside(value) && parsePathPattern(value) !== undefined;
}

export function isBranch(value: unknown): value is string {
  return isText(value) && !value.startsWith('-') && !/[\s~^:?*[\\\u007f]/.test(value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && !value.includes('\0') && value.isWellFormed();
}

/** One of these words. */
export function oneOf<const W extends string>(words: readonly W[], fallback: W): Rule<W> {
  const isOne = (value: unknown): value is W => words.some((word) => word === value);
  return rule(words.join(', '), isOne, fallback);
}
