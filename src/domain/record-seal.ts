import { checksum, digestWithChecksum } from '#kernel/checksum.ts';

/**
 * The last key of a line's `_v` is a checksum of all that stands before it. A line that fits its seal was written by
 * Forge, and its stamps tell the truth; in one that does not, somebody changed a value and left the stamps.
 */
export function seal(body: string, stamps: string): string {
  const open = openSeal(body, stamps);
  return `${open}${checksum(open)}"}}`;
}

/** The sealed line and its digest, for little more than the seal alone. */
export function sealWithDigest(body: string, stamps: string): { line: string; digest: number } {
  const open = openSeal(body, stamps);
  const { text, digest } = digestWithChecksum(open, '"}}');
  return { line: text, digest };
}

/** False for lines without stamps too: whoever wrote them, only a comparison tells what changed. */
export function isSealed(line: string): boolean {
  const end = line.length - 3;
  if (!line.endsWith('"}}')) return false;
  const start = line.lastIndexOf('"', end - 1) + 1;
  if (line.slice(start - 6, start) !== '"_v":"') return false;
  return checksum(line.slice(0, start)) === line.slice(start, end);
}

/** Joined, not added up: what adds up is a tree of strings, in which every character takes twice as long to find. */
function openSeal(body: string, stamps: string): string {
  return [body, ',"_v":', stamps.slice(0, -1), stamps === '{}' ? '' : ',', '"_v":"'].join('');
}
