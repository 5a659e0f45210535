import { closeSync, ftruncateSync, openSync, readSync } from 'node:fs';
import { parseLogLine } from './parse-log-line.ts';

const CHUNK_BYTES = 65_536;

export interface Mended {
  /** Of the file, after what was torn has been cut. */
  readonly size: number;
  /** Of the last line that is whole; 0 where there is none. */
  readonly seq: number;
}

/**
 * Makes the end of a log whole again. A writer that was killed leaves half a line, a machine that lost power maybe
 * a run of zeros: everything behind the last line that can be read is cut.
 */
export function mendLog(path: string, size: number): Mended {
  const file = openSync(path, 'r+');
  try {
    let end = size;
    for (;;) {
      const stop = findNewlineBefore(file, end);
      if (stop !== end) ftruncateSync(file, stop);
      if (stop === 0) return { size: 0, seq: 0 };
      const start = findNewlineBefore(file, stop - 1);
      const line = parseLogLine(readText(file, start, stop - 1));
      if (line !== undefined) return { size: stop, seq: line.seq };
      end = start;
      if (end !== stop) ftruncateSync(file, end);
      if (end === 0) return { size: 0, seq: 0 };
    }
  } finally {
    closeSync(file);
  }
}

/** Where the line begins that would end at `end`: behind the last newline before it. */
export function findNewlineBefore(file: number, end: number): number {
  const buffer = Buffer.alloc(CHUNK_BYTES);
  for (let to = end; to > 0;) {
    const from = Math.max(0, to - CHUNK_BYTES);
    const read = readSync(file, buffer, 0, to - from, from);
    const at = buffer.subarray(0, read).lastIndexOf(10);
    if (at >= 0) return from + at + 1;
    to = from;
  }
  return 0;
}

function readText(file: number, start: number, end: number): string {
  const buffer = Buffer.alloc(end - start);
  const read = readSync(file, buffer, 0, buffer.length, start);
  return buffer.toString('utf8', 0, read);
}
