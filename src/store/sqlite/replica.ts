import {
  closeSync,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { openNewFile, PRIVATE, type FileModes } from '../file-modes.ts';
import { syncFolder } from '../sync-folder.ts';
import { translateStoreError } from './translate-error.ts';

/** Small enough for its text to be cleared away with the short-lived: larger ones take more memory and longer. */
const CHUNK = 1 << 16;
const NEWLINE = 0x0a;

/** A line, and the offset after its newline, by which it is known. */
export interface StoredLine {
  readonly text: string;
  readonly end: number;
}

/**
 * The local replica: one line a write, appended and fsynced before the database commits. All calls happen
 * under the database's write lock, except `size`.
 */
export class Replica {
  readonly path: string;
  /** How a file that is there is opened. */
  protected readonly flags: 'r+' | 'r' = 'r+';
  readonly #modes: () => FileModes;
  #file: number | undefined;
  /** The file that is open, and the one that was seen at the path last. */
  #inode = 0;
  #there = 0;

  constructor(path: string, modes: () => FileModes = () => PRIVATE) {
    this.path = path;
    this.#modes = modes;
  }

  /** Bytes on disk; 0 when there is no file. Every writer asks first, and so learns which file it is. */
  size(): number {
    const there = this.#guarded(() => statSync(this.path, { throwIfNoEntry: false }));
    this.#there = there?.ino ?? 0;
    // What is not a file holds nothing; a write will say what is in the way.
    return there?.isFile() === true ? there.size : 0;
  }

  /** Of the file that `size` saw last; 0 when there was none. */
  inode(): number {
    return this.#there;
  }

  /**
   * Appends whole lines at `offset` and makes them durable, unless more are to come. A failure leaves the file as it
   * was. Returns the new size.
   */
  append(offset: number, lines: readonly string[], more: { sync: boolean } = { sync: true }): number {
    const bytes = Buffer.from(`${lines.join('\n')}\n`, 'utf8');
    return this.#guarded(() => {
      const file = this.#open();
      try {
        writeAll(file, bytes, offset);
        if (more.sync) fdatasyncSync(file);
      } catch (error) {
        ftruncateSync(file, offset);
        throw error;
      }
      return offset + bytes.length;
    });
  }

  /** Makes durable what was appended without. */
  sync(): void {
    this.#guarded(() => fdatasyncSync(this.#open()));
  }

  /** The same without standing still for it. */
  async syncAside(): Promise<void> {
    const file = this.#guarded(() => this.#open());
    await new Promise<void>((resolve, reject) => {
      fdatasync(file, (error) =>
        error === null ? resolve() : reject(translateStoreError(error, this.path)),
      );
    });
  }

  /** Takes back what an append added when the commit after it failed. */
  truncate(size: number): void {
    this.#guarded(() => ftruncateSync(this.#open(), size));
  }

  /** Where to read from: an offset inside a line belongs to another file that once stood here, and all of this one counts. */
  startAt(offset: number): number {
    return this.#guarded(() => (offset > 0 && !endsLine(this.#open(), offset) ? 0 : offset));
  }

  /** The whole lines from `offset` on, a chunk at a time; a torn last line was never acknowledged. */
  *lines(offset: number): Generator<StoredLine> {
    let buffer = Buffer.allocUnsafeSlow(CHUNK);
    /** Bytes of a line that is not whole yet, at the start of the buffer. */
    let kept = 0;
    for (let position = offset; ;) {
      if (buffer.length - kept < CHUNK) buffer = widen(buffer, kept);
      const into = buffer;
      const count = this.#guarded(() => readSync(this.#open(), into, kept, CHUNK, position));
      if (count === 0) return;
      const from = position - kept;
      const filled = kept + count;
      position += count;
      let start = 0;
      // What was kept has no newline.
      for (let stop = buffer.indexOf(NEWLINE, kept); stop >= 0 && stop < filled;) {
        yield { text: buffer.toString('utf8', start, stop), end: from + stop + 1 };
        start = stop + 1;
        stop = buffer.indexOf(NEWLINE, start);
      }
      buffer.copyWithin(0, start, filled);
      kept = filled - start;
    }
  }

  /** The whole file anew: temp, fsync, rename. Returns its size. */
  rewrite(lines: Iterable<string>): number {
    return this.#guarded(() => {
      const temporary = this.#begin();
      try {
        const size = writeFile(openNewFile(temporary, 'w', this.#modes()), lines);
        this.#take(temporary);
        return size;
      } catch (error) {
        rmSync(temporary, { force: true });
        throw error;
      }
    });
  }

  /** The same with other work in between: `fill` writes the new file, closes it and gives its size. */
  async rewriteAside(fill: (file: number) => Promise<number>): Promise<number> {
    const temporary = this.#guarded(() => this.#begin());
    try {
      const size = await fill(openNewFile(temporary, 'w', this.#modes()));
      this.#take(temporary);
      return size;
    } catch (error) {
      rmSync(temporary, { force: true });
      throw translateStoreError(error, this.path);
    }
  }

  /** Where the new file is written. */
  #begin(): string {
    this.close();
    sweepTemporaryFiles(this.path);
    return `${this.path}.${process.pid}.tmp`;
  }

  /** Puts the new file into the place of the old one. */
  #take(temporary: string): void {
    renameSync(temporary, this.path);
    syncFolder(dirname(this.path));
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  /** Another process may have put a new file in the place of the one that is open here; that one counts. */
  #open(): number {
    if (this.#file !== undefined && this.#there === this.#inode) return this.#file;
    this.close();
    const isNew = this.size() === 0 && this.#there === 0;
    this.#file = isNew ? openNewFile(this.path, 'w+', this.#modes()) : openSync(this.path, this.flags);
    this.#inode = fstatSync(this.#file).ino;
    this.#there = this.#inode;
    if (isNew) syncFolder(dirname(this.path));
    return this.#file;
  }

  #guarded<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw translateStoreError(error, this.path);
    }
  }
}

/** What a killed process left. Under the write lock nobody else is at work on one. */
function sweepTemporaryFiles(path: string): void {
  const folder = dirname(path);
  for (const name of readdirSync(folder)) {
    const isLeft = name.startsWith(`${basename(path)}.`) && /\.\d+\.tmp$/.test(name);
    if (isLeft) rmSync(join(folder, name), { force: true });
  }
}

/** Fills a new file with these lines, syncs and closes it. Returns its size. */
function writeFile(file: number, lines: Iterable<string>): number {
  let size = 0;
  try {
    for (const line of lines) {
      const bytes = Buffer.from(`${line}\n`, 'utf8');
      writeAll(file, bytes, size);
      size += bytes.length;
    }
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  return size;
}

/** The same bytes at the start of a buffer of twice the size. */
function widen(buffer: Buffer, kept: number): Buffer<ArrayBuffer> {
  const wider = Buffer.allocUnsafeSlow(buffer.length * 2);
  buffer.copy(wider, 0, 0, kept);
  return wider;
}

function endsLine(file: number, offset: number): boolean {
  const last = Buffer.alloc(1);
  return readSync(file, last, 0, 1, offset - 1) === 1 && last[0] === NEWLINE;
}

function writeAll(file: number, bytes: Uint8Array, offset: number): void {
  let written = 0;
  while (written < bytes.length)
    written += writeSync(file, bytes, written, bytes.length - written, offset + written);
}
