import { closeSync, fchmodSync, ftruncateSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { TranscriptEntry } from '#contract/transcript.ts';
import { toIso, type Clock } from '#kernel/clock.ts';
import { LIMITS } from '#kernel/limits.ts';
import { cleanEntry } from './log/clean-entry.ts';
import { listLogParts, toPartPath, type LogPart } from './log/log-parts.ts';
import { mendLog } from './log/mend-log.ts';

/** Entries wait for the end of the turn and are written together, or at once when there are this many bytes. */
const WAITING_BYTES = 65_536;
const PRIVATE = 0o600;

export interface RunLogOptions {
  readonly path: string;
  readonly clock: Clock;
  /** Takes the secrets out of a text, before it is written anywhere. */
  readonly redact: (text: string) => string;
  readonly limits?: { readonly bytes?: number; readonly line_bytes?: number };
  /** The owner's alone where it is left out. */
  readonly mode?: number | undefined;
}

/** Opens the log of a run, or goes on with it: what a killed writer left torn is cut, and numbers go on. */
export function openRunLog(options: RunLogOptions): RunLog {
  return new RunLog(options);
}

/**
 * One JSON object a line, `{v, seq, at, kind, …}`. Appending never throws: a full disk must not end an agent's work.
 * What could not be written is counted and told as soon as writing works again.
 */
export class RunLog implements Disposable {
  readonly #options: RunLogOptions;
  readonly #limits: { readonly bytes: number; readonly line_bytes: number };
  readonly #tail: LogPart[];
  #file: number;
  /** Of the part that is written to, in the bytes of the whole log. */
  #start: number;
  #size: number;
  #seq: number;
  #waiting: string[] = [];
  #waitingBytes = 0;
  #flush: NodeJS.Immediate | undefined;
  #lost = 0;
  #last = { ms: Number.NaN, at: '' };
  #closed = false;

  constructor(options: RunLogOptions) {
    this.#options = options;
    this.#limits = {
      bytes: options.limits?.bytes ?? LIMITS.log_bytes,
      line_bytes: options.limits?.line_bytes ?? LIMITS.log_line_bytes,
    };
    mkdirSync(dirname(options.path), { recursive: true, mode: 0o700 });
    const parts = listLogParts(options.path);
    this.#tail = parts.filter((part) => part.start > 0).slice(0, -1);
    const last = parts.at(-1);
    const mended = last === undefined ? { size: 0, seq: 0 } : mendLog(last.path, last.size);
    this.#start = last?.start ?? 0;
    this.#size = mended.size;
    this.#seq = mended.seq > 0 ? mended.seq : this.#seqBefore(parts);
    this.#file = this.#openPart(this.#start, last === undefined);
  }

  /** The number of the last entry. */
  get seq(): number {
    return this.#seq;
  }

  /** Gives the entry as it may be shown. */
  append(entry: TranscriptEntry): TranscriptEntry {
    const clean = cleanEntry(entry, { redact: this.#options.redact, line_bytes: this.#limits.line_bytes });
    if (this.#closed) return clean;
    this.#add(clean);
    if (this.#waitingBytes >= WAITING_BYTES) this.flush();
    else this.#flush ??= setImmediate(() => this.flush());
    return clean;
  }

  /** Writes what waits. */
  flush(): void {
    if (this.#flush !== undefined) clearImmediate(this.#flush);
    this.#flush = undefined;
    if (this.#waiting.length === 0) return;
    const lines = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    const told = this.#lost > 0 ? [this.#tellLost(lines), ...lines] : lines;
    if (this.#write(told)) this.#lost = 0;
    else this.#lost += lines.length;
  }

  close(): void {
    if (this.#closed) return;
    this.flush();
    this.#closed = true;
    closeSync(this.#file);
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #add(entry: TranscriptEntry): void {
    this.#seq += 1;
    const line = this.#toLine(entry, this.#seq);
    this.#waiting.push(line);
    this.#waitingBytes += line.length;
  }

  #toLine(entry: TranscriptEntry, seq: number): string {
    return `{"v":1,"seq":${seq},"at":"${this.#now()}",${JSON.stringify(entry).slice(1)}\n`;
  }

  /** A program that writes much writes many lines in one millisecond. */
  #now(): string {
    const ms = this.#options.clock.now();
    if (ms !== this.#last.ms) this.#last = { ms, at: toIso(ms) };
    return this.#last.at;
  }

  /** Takes the number of the last line that was lost: numbers rise, and a gap shows what is missing. */
  #tellLost(lines: readonly string[]): string {
    const text = `${this.#lost} entries are left out: the log could not be written`;
    return this.#toLine({ kind: 'note', text }, this.#seq - lines.length);
  }

  /** All or nothing: half of a batch would leave a torn line in the middle. */
  #write(lines: readonly string[]): boolean {
    const text = lines.join('');
    const length = Buffer.byteLength(text);
    try {
      this.#makeRoom(length);
      let written = writeSync(this.#file, text);
      while (written < length) written += writeSync(this.#file, Buffer.from(text), written);
      this.#size += length;
      return true;
    } catch {
      this.#undo();
      return false;
    }
  }

  #undo(): void {
    try {
      ftruncateSync(this.#file, this.#size);
    } catch {
      // The next opening mends it.
    }
  }

  #openPart(start: number, isNew: boolean): number {
    const { path, mode = PRIVATE } = this.#options;
    const file = openSync(toPartPath(path, start), 'a', mode);
    if (isNew && mode !== PRIVATE) fchmodSync(file, mode); // whatever the umask took away
    return file;
  }

  /** The head keeps half of the room, the last two parts a quarter each. */
  #makeRoom(bytes: number): void {
    const room = this.#start === 0 ? this.#limits.bytes / 2 : this.#limits.bytes / 4;
    if (this.#size === 0 || this.#size + bytes <= room) return;
    const start = this.#start + this.#size;
    const file = this.#openPart(start, true);
    closeSync(this.#file);
    if (this.#start > 0)
      this.#tail.push({
        path: toPartPath(this.#options.path, this.#start),
        start: this.#start,
        size: this.#size,
      });
    this.#file = file;
    this.#start = start;
    this.#size = 0;
    for (const old of this.#tail.splice(0, Math.max(0, this.#tail.length - 1)))
      rmSync(old.path, { force: true });
  }

  /** Where the last part was opened and nothing whole is in it, the part before it has the last number. */
  #seqBefore(parts: readonly LogPart[]): number {
    for (const part of parts.slice(0, -1).toReversed()) {
      const { seq } = mendLog(part.path, part.size);
      if (seq > 0) return seq;
    }
    return 0;
  }
}
