import { isUtf8 } from 'node:buffer';
import { createHash, type Hash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readSync, type BigIntStats } from 'node:fs';
import { ForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { FileLine } from '#store/replication.ts';
import { toFileError } from './file-error.ts';
import { isOneLine, JsonGatherer } from './gather-json.ts';

/** Small enough for its text to be cleared away with the short-lived: larger ones take more memory and longer. */
const CHUNK = 1 << 16;
const NEWLINE = 0x0a;
/** Lines that are no text, which are carried along; more of them are counted. */
const DAMAGED_KEPT = 10_000;

/** A file that is being read: its lines, and after the last of them the digest of all its bytes. */
export interface LineReader {
  readonly lines: Iterable<FileLine>;
  /** Of the file that was opened, whatever stands at the path by now. */
  readonly stats: BigIntStats;
  readonly digest: () => string;
  /** Lines that cannot be text: they are carried along as bytes. */
  readonly damaged: readonly Buffer[];
  /** How many of those there are besides. */
  readonly damagedMore: () => number;
  /** False where something was left out that Forge would not write: carriage returns, blank lines and the like. */
  readonly isPlain: () => boolean;
}

/**
 * A file of lines, a chunk at a time. Blank lines are left out, and carriage returns and a byte order mark are not
 * part of a line. Conflict markers are no lines either: they say which side the lines between them stand on, and a
 * common ancestor that git shows there is skipped. Objects over several lines, or in a list, are a line each.
 */
export function readFileLines(path: string): LineReader {
  const file = openToRead(path);
  const hash = createHash('sha256');
  const damaged: Buffer[] = [];
  const seen: Seen = { isPlain: true, damagedMore: 0 };
  const stats = fstatSync(file, { bigint: true });
  return {
    lines: withoutMarkers(closing(file, splitLines(file, { hash, damaged, path, seen })), seen),
    stats,
    digest: () => hash.digest('hex'),
    damaged,
    damagedMore: () => seen.damagedMore,
    isPlain: () => seen.isPlain,
  };
}

/** Throws in Forge's words and with the file's name: this is called inside of transactions of the store. */
export function openToRead(path: string): number {
  try {
    // A pipe in its place is not waited for.
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    throw toFileError(error, `Could not read ${path}`);
  }
}

export function digestText(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** The same for content that is in memory already. */
export function* splitText(text: string): Generator<FileLine> {
  let number = 0;
  function* all(): Generator<{ text: string; number: number }> {
    for (const line of text.split('\n')) {
      number += 1;
      yield { text: trim(line, number), number };
    }
  }
  yield* withoutMarkers(all());
}

/** Filled while the lines are read. */
interface Seen {
  isPlain: boolean;
  damagedMore: number;
}

interface Numbered {
  readonly text: string;
  readonly number: number;
}

function* closing(file: number, lines: Generator<Numbered>): Generator<Numbered> {
  try {
    yield* lines;
  } finally {
    closeSync(file);
  }
}

function* splitLines(
  file: number,
  { hash, damaged, path, seen }: { hash: Hash; damaged: Buffer[]; path: string; seen: Seen },
): Generator<Numbered> {
  let buffer = Buffer.allocUnsafeSlow(CHUNK);
  /** Bytes of a line that is not whole yet, at the start of the buffer. */
  let kept = 0;
  let number = 0;
  for (let position = 0; ;) {
    if (buffer.length - kept < CHUNK) buffer = widen(buffer, kept);
    const count = readSync(file, buffer, kept, CHUNK, position);
    hash.update(buffer.subarray(kept, kept + count));
    position += count;
    const filled = kept + count;
    // At the end the last line may have no newline.
    const end = count === 0 ? filled : lastNewline(buffer, kept, filled) + 1;
    if (filled - end > LIMITS.file_line_bytes) throw tooLong(path, number + 1);
    if (end > 0) {
      if (buffer[end - 1] !== NEWLINE) seen.isPlain = false;
      for (const line of toLines(buffer.subarray(0, end), damaged, seen)) {
        number += 1;
        if (line === undefined) continue;
        const text = trim(line, number);
        if (text.length !== line.length) seen.isPlain = false;
        yield { text, number };
      }
    }
    if (count === 0) return;
    buffer.copyWithin(0, end, filled);
    kept = filled - end;
  }
}

/** Before `end`; before `start` there is none, and what is left over behind from an earlier read does not count. */
function lastNewline(buffer: Buffer, start: number, end: number): number {
  const found = buffer.subarray(start, end).lastIndexOf(NEWLINE);
  return found < 0 ? -1 : start + found;
}

/** The same bytes at the start of a buffer of twice the size. */
function widen(buffer: Buffer, kept: number): Buffer<ArrayBuffer> {
  const wider = Buffer.allocUnsafeSlow(buffer.length * 2);
  buffer.copy(wider, 0, 0, kept);
  return wider;
}

/** Undefined for a line that is not text. One check for all of them, because nearly always all are. */
function* toLines(bytes: Buffer, damaged: Buffer[], seen: Seen): Generator<string | undefined> {
  const end = bytes.at(-1) === NEWLINE ? bytes.length - 1 : bytes.length;
  if (isUtf8(bytes)) {
    yield* bytes.toString('utf8', 0, end).split('\n');
    return;
  }
  for (let start = 0; start <= end;) {
    const next = bytes.indexOf(NEWLINE, start);
    const stop = next < 0 ? end : next;
    const line = bytes.subarray(start, stop);
    if (isUtf8(line)) yield line.toString('utf8');
    else {
      if (damaged.length < DAMAGED_KEPT) damaged.push(Buffer.from(line));
      else seen.damagedMore += 1;
      yield undefined;
    }
    start = stop + 1;
    if (next < 0) return;
  }
}

function trim(line: string, number: number): string {
  const start = number === 1 && line.startsWith('\uFEFF') ? 1 : 0;
  return line.endsWith('\r') ? line.slice(start, -1) : start === 0 ? line : line.slice(start);
}

function* withoutMarkers(lines: Iterable<Numbered>, seen?: Seen): Generator<FileLine> {
  let side: 'ours' | 'base' | 'theirs' | undefined;
  const json = new JsonGatherer();
  for (const { text, number } of lines) {
    if (text === '' || text.trim() === '') {
      if (seen !== undefined) seen.isPlain = false;
      continue;
    }
    const marker = markerOf(text);
    if (marker !== undefined) side = marker === 'end' ? undefined : marker;
    else if (side === 'base') continue;
    else {
      const line: FileLine = side === undefined ? { text, number } : { text, number, side };
      if (isOneLine(text) && json.isIdle) yield line;
      else {
        if (seen !== undefined) seen.isPlain = false;
        yield* json.take(line);
      }
    }
  }
  yield* json.end();
}

/** Seven of a kind at the start of a line, alone or before a space: git's conflict markers. No task begins so. */
function markerOf(text: string): 'ours' | 'base' | 'theirs' | 'end' | undefined {
  if (text.startsWith('{')) return undefined;
  if (/^<{7}( |$)/.test(text)) return 'ours';
  if (/^\|{7}( |$)/.test(text)) return 'base';
  if (/^={7}( |$)/.test(text)) return 'theirs';
  return /^>{7}( |$)/.test(text) ? 'end' : undefined;
}

function tooLong(path: string, number: number): ForgeError {
  return new ForgeError(
    'invalid_input',
    `${path}: line ${number} has more than ${LIMITS.file_line_bytes} bytes`,
    {
      details: { path, line: number, limit: LIMITS.file_line_bytes },
    },
  );
}
