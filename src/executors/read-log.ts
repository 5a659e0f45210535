import { closeSync, openSync, readSync } from 'node:fs';
import type { LogLine } from '#contract/transcript.ts';
import { LIMITS } from '#kernel/limits.ts';
import { listLogParts, type LogPart } from './log/log-parts.ts';
import { findNewlineBefore } from './log/mend-log.ts';
import { parseLogLine } from './log/parse-log-line.ts';

export interface LogPage {
  readonly lines: readonly LogLine[];
  /** Where to read on, now or when more was written. */
  readonly next_offset: number;
  /** Nothing whole is behind it yet. */
  readonly end: boolean;
}

interface ReadLimits {
  readonly page_bytes?: number;
  readonly page_lines?: number;
}

/**
 * Lines of a run's log from a byte offset on: 0, or one that an earlier answer gave. What was dropped from the
 * middle of a long log is told by a note in its place. A log that is not there is empty.
 */
export function readLog(request: {
  readonly path: string;
  readonly offset: number;
  readonly limit: number;
  readonly limits?: ReadLimits;
}): LogPage {
  const most = Math.min(request.limit, request.limits?.page_lines ?? LIMITS.log_page_lines);
  const lines: LogLine[] = [];
  let offset = request.offset;
  let bytes = request.limits?.page_bytes ?? LIMITS.log_page_bytes;
  for (const part of listLogParts(request.path)) {
    if (part.start + part.size <= offset) continue;
    if (lines.length >= most || bytes <= 0) return { lines, next_offset: offset, end: false };
    const from = Math.max(offset, part.start);
    const read = readPart(part, from, { lines: most - lines.length, bytes });
    const first = read.lines[0];
    if (first === undefined) break;
    if (part.start > offset) lines.push(toGapNote(part.start - offset, first, lines.at(-1)));
    lines.push(...read.lines);
    bytes -= read.next_offset - from;
    offset = read.next_offset;
    if (read.more) return { lines, next_offset: offset, end: false };
  }
  return { lines, next_offset: offset, end: true };
}

/** The last lines of a run's log, and where to read on from. */
export function tailLog(request: {
  readonly path: string;
  readonly lines: number;
  readonly limits?: ReadLimits;
}): LogPage {
  const parts = listLogParts(request.path);
  const wanted = Math.min(request.lines, request.limits?.page_lines ?? LIMITS.log_page_lines);
  const most = request.limits?.page_bytes ?? LIMITS.log_page_bytes;
  const end = parts.at(-1);
  if (end === undefined) return { lines: [], next_offset: 0, end: true };
  let found = 0;
  let bytes = 0;
  let from = end.start + end.size;
  for (const part of parts.toReversed()) {
    const file = tryOpen(part.path);
    if (file === undefined) break;
    try {
      // What stands behind the last newline is a line that is still being written.
      let at = findNewlineBefore(file, part.size);
      if (part === end) from = part.start + at;
      while (at > 0 && found < wanted && bytes < most) {
        const start = findNewlineBefore(file, at - 1);
        bytes += at - start;
        found += 1;
        at = start;
        from = part.start + at;
      }
    } finally {
      closeSync(file);
    }
    if (found >= wanted || bytes >= most) break;
  }
  return readLog({ path: request.path, offset: from, limit: wanted, limits: { page_bytes: bytes + 1 } });
}

interface PartPage {
  readonly lines: readonly LogLine[];
  readonly next_offset: number;
  /** Whole lines were left for the next page. */
  readonly more: boolean;
}

/** At least one line, however long it is, so that a reader always gets on. */
function readPart(part: LogPart, offset: number, most: { lines: number; bytes: number }): PartPage {
  const at = offset - part.start;
  const whole = readWholeLines(part, at, most.bytes);
  const lines: LogLine[] = [];
  let from = 0;
  while (from < whole.length && lines.length < most.lines) {
    const end = whole.indexOf(10, from);
    lines.push(parseLogLine(whole.toString('utf8', from, end)) ?? toUnreadable(offset + from, lines.at(-1)));
    from = end + 1;
  }
  return { lines, next_offset: offset + from, more: from < whole.length || at + from < part.size };
}

/** Empty where the part has no whole line behind `at`. */
function readWholeLines(part: LogPart, at: number, bytes: number): Buffer {
  const file = tryOpen(part.path);
  if (file === undefined) return Buffer.alloc(0);
  try {
    for (let size = bytes; ; size *= 2) {
      const buffer = Buffer.alloc(Math.min(size, part.size - at));
      const read = readSync(file, buffer, 0, buffer.length, at);
      const end = buffer.subarray(0, read).lastIndexOf(10) + 1;
      if (end > 0 || at + read >= part.size || read < buffer.length) return buffer.subarray(0, end);
    }
  } finally {
    closeSync(file);
  }
}

function tryOpen(path: string): number | undefined {
  try {
    return openSync(path, 'r');
  } catch (error) {
    // Dropped since the parts were listed: the log has grown on.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function toGapNote(bytes: number, next: LogLine, last: LogLine | undefined): LogLine {
  const lines = next.seq - 1 - (last?.seq ?? 0);
  const many = last === undefined || lines < 1 ? '' : ` (${lines} entries)`;
  return {
    v: 1,
    seq: next.seq - 1,
    at: next.at,
    kind: 'note',
    text: `${bytes} bytes${many} are left out here: the log grew too long`,
  };
}

function toUnreadable(offset: number, last: LogLine | undefined): LogLine {
  const text = `The line at byte ${offset} of the log cannot be read`;
  return { v: 1, seq: last?.seq ?? 0, at: last?.at ?? '', kind: 'note', text };
}
