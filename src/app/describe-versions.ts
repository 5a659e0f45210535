import { VERSION } from './version.ts';

/**
 * Where a server is of another version than this Forge: a sentence with both, and what to update. Undefined where they are
 * the same, or where the server has not said which it is.
 */
export function describeVersions(server: string | undefined, own: string = VERSION): string | undefined {
  if (server === undefined || server === own) return undefined;
  return `The server is Forge ${server} and this is Forge ${own}: ${toAdvice(compare(server, own))}`;
}

function toAdvice(order: number): string {
  if (order < 0) return 'update Forge where the server runs, and start it again';
  if (order > 0) return 'update Forge here';
  return 'use the same version here and where the server runs';
}

/** By the three numbers alone: zero also where only what follows them differs. */
function compare(one: string, other: string): number {
  const [mine, theirs] = [toNumbers(one), toNumbers(other)];
  for (const [at, number] of mine.entries()) {
    const difference = number - (theirs[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function toNumbers(version: string): number[] {
  const found = /^(\d+)\.(\d+)\.(\d+)/.exec(version);
  return found === null ? [] : found.slice(1).map(Number);
}
