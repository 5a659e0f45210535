/** One line of output, without its end. */
export interface OutputLine {
  /** Bytes that are not UTF-8 stand as U+FFFD. */
  readonly text: string;
  /** It was longer than allowed; `text` is its beginning. */
  readonly cut: boolean;
  /** Its whole length. */
  readonly bytes: number;
}

const SMALL = 65_536;
const NEWLINE = 0x0a;
const RETURN = 0x0d;

/** Makes lines of chunks. Holds at most `max_bytes` of a line that has not ended, in one buffer. */
export class LineSplitter {
  readonly #max: number;
  #held = Buffer.alloc(0);
  #kept = 0;
  #bytes = 0;

  constructor(max_bytes: number) {
    this.#max = max_bytes;
  }

  *push(chunk: Buffer): Generator<OutputLine> {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      const part = chunk.subarray(from, end);
      from = end + 1;
      yield this.#bytes === 0 && part.length <= this.#max ? toLine(part, part.length) : this.#finish(part);
    }
    this.#hold(chunk.subarray(from));
  }

  /** The last line, when it has no end. */
  flush(): OutputLine | undefined {
    return this.#bytes === 0 ? undefined : this.#finish(Buffer.alloc(0));
  }

  #finish(part: Buffer): OutputLine {
    this.#hold(part);
    const line = toLine(this.#held.subarray(0, this.#kept), this.#bytes);
    // A long line must not cost its size for the rest of the run.
    if (this.#held.length > SMALL) this.#held = Buffer.alloc(0);
    this.#kept = 0;
    this.#bytes = 0;
    return line;
  }

  #hold(part: Buffer): void {
    this.#bytes += part.length;
    const kept = Math.min(this.#kept + part.length, this.#max);
    if (kept > this.#held.length) {
      // Doubled, so that a line that comes byte by byte is not copied as often.
      const larger = Buffer.allocUnsafe(Math.min(this.#max, Math.max(kept, this.#held.length * 2, 1_024)));
      this.#held.copy(larger, 0, 0, this.#kept);
      this.#held = larger;
    }
    part.copy(this.#held, this.#kept, 0, kept - this.#kept);
    this.#kept = kept;
  }
}

function toLine(kept: Buffer, bytes: number): OutputLine {
  if (kept.length < bytes) {
    // As a stream that goes on: half a character at the cut is left out instead of shown as damage.
    const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(kept, { stream: true });
    return { text, cut: true, bytes };
  }
  const end = kept.at(-1) === RETURN ? kept.length - 1 : kept.length;
  return { text: kept.toString('utf8', 0, end), cut: false, bytes };
}
