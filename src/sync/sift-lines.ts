import { closeSync, fstatSync, readSync, type BigIntStats } from 'node:fs';
import type { FileLine } from '#store/replication.ts';
import { openToRead, readFileLines } from './read-file-lines.ts';

/** What of a file may say something. */
export interface SiftedLines {
  readonly stats: BigIntStats;
  readonly digest: string;
  /** In the order of the file: every line that may be an entry, and the first of those that are none. */
  readonly lines: readonly FileLine[];
  readonly damaged: readonly Uint8Array[];
  /** How many lines were left out that are no entries. */
  readonly more: number;
  /** The file is not just those lines with a newline each. */
  readonly is_odd: boolean;
}

/** Forge writes no line of an entry as short as this; a file with a shorter average is mostly something else. */
const SHORT_BYTES = 100;
const FEW_LINES = 10_000;
/** Of lines that are no entries, so many are looked at as all others are. */
const KEPT_LINES = 1_000;
const CHUNK = 1 << 20;
const NEWLINE = 0x0a;

/**
 * Undefined for a file that is as Forge writes them. Lines without `key` in quotes are no entries, however many they are:
 * to look at each of them under the write lock would keep every other writer out for a minute.
 */
export function siftLines(path: string, key: string): SiftedLines | undefined {
  if (!hasManyShortLines(path)) return undefined;
  const quoted = `"${key}"`;
  const reader = readFileLines(path);
  const lines: FileLine[] = [];
  let others = 0;
  for (const line of reader.lines) {
    // With an escape in it the key may be written in another way.
    if (!line.text.includes(quoted) && !line.text.includes('\\')) {
      others += 1;
      if (others > KEPT_LINES) continue;
    }
    lines.push(line);
  }
  const more = Math.max(0, others - KEPT_LINES) + reader.damagedMore();
  return { stats: reader.stats, digest: reader.digest(), lines, damaged: reader.damaged, more, is_odd: true };
}

function hasManyShortLines(path: string): boolean {
  const file = openToRead(path);
  try {
    const { size } = fstatSync(file);
    // Fewer lines than these cannot be as short.
    const many = Math.max(FEW_LINES, Math.floor(size / SHORT_BYTES));
    const chunk = Buffer.allocUnsafe(CHUNK);
    let lines = 0;
    for (let count = readSync(file, chunk); count > 0; count = readSync(file, chunk)) {
      const read = chunk.subarray(0, count);
      for (let at = read.indexOf(NEWLINE); at >= 0; at = read.indexOf(NEWLINE, at + 1)) lines += 1;
      if (lines > many) return true;
    }
    return false;
  } finally {
    closeSync(file);
  }
}
