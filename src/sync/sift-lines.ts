import { closeSync, fstatSync, readSync, type BigIntStats } from 'node:fs';
import type { FileLine, FileMark, FoldRequest, OpenFile } from '#store/sync-store.ts';
import { isHeldMark, isUnchanged, statFile, toMark } from './file-changes.ts';
import { keepWholeFile } from './keep-whole-file.ts';
import { openToRead, readFileLines } from './read-file-lines.ts';

/** A file of very many short lines, read once before the write lock is taken: what of it may say something. */
export interface SiftedLines {
  readonly stats: BigIntStats;
  readonly digest: string;
  /** In the order of the file: every line that may be an entry, and the first of those that are none. */
  readonly lines: readonly FileLine[];
  readonly damaged: readonly Uint8Array[];
  /** How many lines were left out that are no entries. */
  readonly more: number;
}

/** Forge writes no line of an entry as short as this; a file with a shorter average is mostly something else. */
const SHORT_BYTES = 100;
const FEW_LINES = 10_000;
/** Of lines that are no entries, so many are looked at as all others are. */
const KEPT_LINES = 1_000;
/** More is not kept in memory, and read under the lock. */
const KEPT_BYTES = 67_108_864;
const CHUNK = 1 << 20;
const NEWLINE = 0x0a;

/** The same request; of a file of very many short lines what was read before the lock was taken, where it is still the same. */
export function withSifted(
  request: FoldRequest,
  { path, key, clock }: { readonly path: string; readonly key: string; readonly clock: () => number },
): FoldRequest {
  const looked_at = clock();
  const sifted = siftLines(path, key);
  if (sifted === undefined) return request;
  const { stats, digest, lines, damaged, more } = sifted;
  const open = (mark: FileMark | undefined): OpenFile | undefined => {
    const now = statFile(path);
    if (now === undefined || !isSameFile(now, stats) || (isUnchanged(now, mark) && !isHeldMark(mark)))
      return request.open(mark);
    return {
      lines,
      expected: lines.length,
      damaged: () => damaged,
      more: () => more,
      keepWhole: (folder) => keepWholeFile(path, folder),
      isPlain: () => false,
      mark: () => toMark(path, stats, { digest, looked_at }),
    };
  };
  return { ...request, open };
}

function isSameFile(now: BigIntStats, { ino, size, mtimeNs, ctimeNs }: BigIntStats): boolean {
  return now.ino === ino && now.size === size && now.mtimeNs === mtimeNs && now.ctimeNs === ctimeNs;
}

/**
 * Undefined for a file that is as Forge writes them. Lines without `key` in quotes are no entries, however many they are:
 * to read each of them under the write lock would keep every other writer out for a minute.
 */
export function siftLines(path: string, key: string): SiftedLines | undefined {
  if (!hasManyShortLines(path)) return undefined;
  const quoted = `"${key}"`;
  const reader = readFileLines(path);
  const lines: FileLine[] = [];
  let [others, bytes] = [0, 0];
  for (const line of reader.lines) {
    // With an escape in it the key may be written in another way.
    if (!line.text.includes(quoted) && !line.text.includes('\\')) {
      others += 1;
      if (others > KEPT_LINES) continue;
    }
    bytes += line.text.length;
    if (bytes <= KEPT_BYTES) lines.push(line);
  }
  if (bytes > KEPT_BYTES) return undefined;
  const more = Math.max(0, others - KEPT_LINES) + reader.damagedMore();
  return { stats: reader.stats, digest: reader.digest(), lines, damaged: reader.damaged, more };
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
