import { closeSync, openSync, readSync } from 'node:fs';
import { compareText } from '#kernel/text.ts';
import type { ChangedLines } from '#store/replication.ts';
import type { WriteLine } from './write-lines.ts';

const CHUNK = 1 << 20;
const NEWLINE = 0x0a;
const RETURN = 0x0d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** The file is not what an export wrote: only another one can tell what belongs into it. */
export class NotAsExported extends Error {}

export interface Splice {
  readonly start: '{"id":"' | '{"task":"';
  readonly write: WriteLine;
  /** Told every byte of the file, in order. */
  readonly seen?: ((bytes: Uint8Array) => void) | undefined;
}

/**
 * An export's file with the lines of some owners in the place of those that it has, byte for byte what a new export
 * would write. The other lines are copied and not looked into, except for whose they are: `start` is what every line
 * begins with, up to its owner.
 */
export function spliceLines(
  path: string,
  { lines, total }: ChangedLines,
  { start, write, seen }: Splice,
): void {
  const waiting = [...lines.keys()].sort(compareText);
  let next = 0;
  let count = 0;
  let last = '';
  let replaced: string | undefined;
  const put = (owner: string): void => {
    for (const line of lines.get(owner) ?? []) {
      write(line);
      count += 1;
    }
  };
  for (const chunk of readWholeLines(path)) {
    seen?.(chunk);
    let copied = 0;
    for (let at = 0; at < chunk.length;) {
      const end = chunk.indexOf(NEWLINE, at);
      const owner = ownerOf(chunk, at, end, start);
      if (owner < last) throw new NotAsExported();
      last = owner;
      const isDue = next < waiting.length && (waiting[next] ?? '') <= owner;
      if (isDue || owner === replaced) {
        if (at > copied) write(chunk.subarray(copied, at - 1));
        for (; next < waiting.length && (waiting[next] ?? '') <= owner; next += 1) {
          replaced = waiting[next] ?? '';
          put(replaced);
        }
        copied = owner === replaced ? end + 1 : at;
      }
      if (owner !== replaced) count += 1;
      at = end + 1;
    }
    if (chunk.length > copied) write(chunk.subarray(copied, chunk.length - 1));
  }
  for (; next < waiting.length; next += 1) put(waiting[next] ?? '');
  if (count !== total) throw new NotAsExported();
}

/** Throws NotAsExported for a line that no export writes. */
function ownerOf(chunk: Buffer, at: number, end: number, start: string): string {
  const from = at + start.length;
  const to = chunk.indexOf(QUOTE, from);
  const isOurs = to > from && to < end && chunk[end - 1] !== RETURN && chunk[to - 1] !== BACKSLASH;
  if (!isOurs || chunk.toString('latin1', at, from) !== start) throw new NotAsExported();
  return chunk.toString('latin1', from, to);
}

/** Chunks that end with a line. The same buffer each time. */
function* readWholeLines(path: string): Generator<Buffer> {
  const file = openSync(path, 'r');
  try {
    let buffer = Buffer.allocUnsafeSlow(CHUNK);
    let kept = 0;
    for (let position = 0; ;) {
      if (kept === buffer.length) buffer = Buffer.concat([buffer], buffer.length * 2);
      const count = readSync(file, buffer, kept, buffer.length - kept, position);
      const filled = kept + count;
      if (count === 0 && filled > 0) throw new NotAsExported(); // the last line has no end
      if (count === 0) return;
      position += count;
      const end = buffer.subarray(0, filled).lastIndexOf(NEWLINE) + 1;
      if (end > 0) yield buffer.subarray(0, end);
      buffer.copyWithin(0, end, filled);
      kept = filled - end;
    }
  } finally {
    closeSync(file);
  }
}
