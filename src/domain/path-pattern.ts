import { LIMITS } from '#kernel/limits.ts';
import { expandBraces } from './expand-braces.ts';

/**
 * A glob for paths below a folder, in a form that takes no longer than the path times the pattern to match: such
 * patterns come with repositories. Known are `*`, `?`, `[a-z]`, `[!a-z]`, `**` for any folders, and `{a,b}`. As in a shell
 * a name that begins with a dot is met only by a pattern that begins with one.
 */
export interface PathPattern {
  /** One for each way to read its braces. */
  readonly ways: readonly (readonly Segment[])[];
}

/** `**`, or what one name has to look like. `literal` is the only name that fits, where there is one. */
export type Segment =
  | { readonly kind: 'folders' }
  | { readonly kind: 'name'; readonly tokens: readonly Token[]; readonly literal: string | undefined };

type Token =
  | { readonly kind: 'some' }
  | { readonly kind: 'one' }
  | { readonly kind: 'char'; readonly char: string }
  | {
      readonly kind: 'set';
      readonly negated: boolean;
      readonly ranges: readonly (readonly [string, string])[];
    };

/** Undefined for what is no pattern, names something outside, or goes beyond the limits. */
export function parsePathPattern(text: string): PathPattern | undefined {
  if (text === '' || text.length > LIMITS.copy_pattern_length || /[@!+*?]\(|\[[:.=]|\0/.test(text))
    return undefined;
  const ways = expandBraces(text.replaceAll('\\', '/'), LIMITS.copy_pattern_ways)?.map(parseWay);
  if (ways === undefined || ways.includes(undefined)) return undefined;
  return { ways: ways.filter((way) => way !== undefined) };
}

function parseWay(text: string): readonly Segment[] | undefined {
  const isElsewhere = text.startsWith('/') || /^[a-z]:/i.test(text);
  const parts = text.split('/').filter((part) => part !== '' && part !== '.');
  // A pattern for folders alone meets no file; of `.git` nothing is copied.
  if (isElsewhere || parts.length === 0 || text.endsWith('/')) return undefined;
  if (parts.includes('..') || parts[0]?.toLowerCase() === '.git') return undefined;
  if (parts.filter((part) => part === '**').length > LIMITS.copy_pattern_folders) return undefined;
  return parts
    .filter((part, at) => part !== '**' || parts[at - 1] !== '**')
    .map((part) => (part === '**' ? { kind: 'folders' } : parseName(part)));
}

function parseName(part: string): Segment {
  const chars = Array.from(part);
  const tokens: Token[] = [];
  for (let at = 0; at < chars.length;) {
    const set = chars[at] === '[' ? parseSet(chars, at) : undefined;
    const token = set?.token ?? toToken(chars[at] ?? '');
    if (token.kind !== 'some' || tokens.at(-1)?.kind !== 'some') tokens.push(token);
    at = set?.end ?? at + 1;
  }
  const literal = tokens.every(({ kind }) => kind === 'char') ? part : undefined;
  return { kind: 'name', tokens, literal };
}

function toToken(char: string): Token {
  if (char === '*') return { kind: 'some' };
  return char === '?' ? { kind: 'one' } : { kind: 'char', char };
}

/** `[…]` from this place on; undefined where it is never closed, and stands for itself. */
function parseSet(chars: readonly string[], start: number): { token: Token; end: number } | undefined {
  const negated = chars[start + 1] === '!' || chars[start + 1] === '^';
  const first = start + (negated ? 2 : 1);
  const end = chars.indexOf(']', first + 1);
  if (end === -1) return undefined;
  const ranges: [string, string][] = [];
  for (let at = first; at < end; at += 1) {
    const [from = '', dash, to = ''] = chars.slice(at, Math.min(at + 3, end));
    const isRange = dash === '-' && to !== '';
    ranges.push([from, isRange ? to : from]);
    if (isRange) at += 2;
  }
  return { token: { kind: 'set', negated, ranges }, end: end + 1 };
}

/** Whether one name, without folders, fits. Goes back to the last `*` alone, so that no pattern makes it slow. */
export function fitsName({ tokens }: Extract<Segment, { kind: 'name' }>, name: string): boolean {
  const chars = Array.from(name);
  if (chars[0] === '.' && !isDot(tokens[0])) return false;
  let [at, token, star, resume] = [0, 0, -1, 0];
  while (at < chars.length) {
    const next = tokens[token];
    if (next?.kind === 'some') {
      star = token;
      resume = at;
      token += 1;
    } else if (next !== undefined && fitsChar(next, chars[at] ?? '')) {
      at += 1;
      token += 1;
    } else if (star !== -1) {
      resume += 1;
      at = resume;
      token = star + 1;
    } else return false;
  }
  return tokens.slice(token).every(({ kind }) => kind === 'some');
}

function isDot(token: Token | undefined): boolean {
  return token?.kind === 'char' && token.char === '.';
}

function fitsChar(token: Token, char: string): boolean {
  switch (token.kind) {
    case 'some':
    case 'one':
      return true;
    case 'char':
      return token.char === char;
    case 'set':
      return token.ranges.some(([from, to]) => from <= char && char <= to) !== token.negated;
  }
}

/** Where a walk stands in a way: the segments that the next name may meet. */
export type Places = ReadonlySet<number>;

/** At the beginning, or behind a segment: `**` may stand for no folder at all. */
export function toPlaces(way: readonly Segment[], from: Iterable<number>): Places {
  const places = new Set<number>();
  for (const start of from)
    for (let at = start; ; at += 1) {
      places.add(at);
      if (way[at]?.kind !== 'folders') break;
    }
  return places;
}

/** What a name leads to: whether the path ends well there, and where the walk stands inside, if it is a folder. */
export function step(
  way: readonly Segment[],
  places: Places,
  name: string,
): { readonly isMet: boolean; readonly inside: Places } {
  const behind: number[] = [];
  let isMet = false;
  for (const at of places) {
    const segment = way[at];
    if (segment === undefined) continue;
    const isFit = segment.kind === 'folders' ? !name.startsWith('.') : fitsName(segment, name);
    if (!isFit) continue;
    isMet ||= at === way.length - 1;
    behind.push(segment.kind === 'folders' ? at : at + 1);
  }
  return { isMet, inside: toPlaces(way, behind) };
}
