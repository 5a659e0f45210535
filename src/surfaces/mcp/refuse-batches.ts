import { Transform, type TransformCallback } from 'node:stream';

const LINE_END = 0x0a;
const BATCH = 0x5b;
const BLANKS: readonly number[] = [0x20, 0x09, 0x0d];

/**
 * Lets lines of a client through as they come, and leaves out those that are a list: the library would drop such a batch
 * without a word. Nothing is held back, however long a line is.
 */
export class RefuseBatches extends Transform {
  readonly #refuse: () => void;
  /** Whether nothing but blanks was seen of the line, it is let through, or it is left out. */
  #line: 'begins' | 'passes' | 'dropped' = 'begins';

  constructor(refuse: () => void) {
    super();
    this.#refuse = refuse;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    for (let at = 0; at < chunk.length;) {
      const end = chunk.indexOf(LINE_END, at) + 1 || chunk.length;
      this.#take(chunk.subarray(at, end));
      at = end;
    }
    done();
  }

  /** A line, or a part of one. */
  #take(part: Buffer): void {
    if (this.#line === 'begins') {
      const first = part.find((byte) => !BLANKS.includes(byte));
      if (first !== undefined && first !== LINE_END) this.#line = first === BATCH ? 'dropped' : 'passes';
      if (this.#line === 'dropped') this.#refuse();
    }
    if (this.#line !== 'dropped') this.push(part);
    if (part.at(-1) === LINE_END) this.#line = 'begins';
  }
}
