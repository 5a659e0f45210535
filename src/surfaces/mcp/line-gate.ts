import { Transform, type TransformCallback } from 'node:stream';

const NEWLINE = 0x0a;
/** A line that is longer goes on unread: how much is too much is for the reader behind to say. */
const MOST_BYTES = 16 * 1024 * 1024;

/**
 * Lets whole lines of JSON through. A line that is none is handed to `refuse` and goes no further: the protocol wants an
 * answer to it, and the library drops it without one. Blank lines are nothing.
 */
export class LineGate extends Transform {
  readonly #refuse: () => void;
  #pending: Buffer[] = [];
  #size = 0;
  /** The rest of a line that was too long to look at. */
  #isOpen = false;

  constructor(refuse: () => void) {
    super();
    this.#refuse = refuse;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    let rest = chunk;
    for (let end = rest.indexOf(NEWLINE); end !== -1; end = rest.indexOf(NEWLINE)) {
      this.#pass(Buffer.concat([...this.#pending, rest.subarray(0, end + 1)]));
      this.#pending = [];
      this.#size = 0;
      this.#isOpen = false;
      rest = rest.subarray(end + 1);
    }
    if (this.#isOpen) this.push(rest);
    else this.#hold(rest);
    done();
  }

  #hold(rest: Buffer): void {
    if (rest.length === 0) return;
    this.#pending.push(rest);
    this.#size += rest.length;
    if (this.#size <= MOST_BYTES) return;
    this.push(Buffer.concat(this.#pending));
    this.#pending = [];
    this.#isOpen = true;
  }

  #pass(line: Buffer): void {
    if (this.#isOpen || isJson(line)) this.push(line);
    else if (line.toString('utf8').trim() !== '') this.#refuse();
  }
}

function isJson(line: Buffer): boolean {
  try {
    JSON.parse(line.toString('utf8'));
    return true;
  } catch {
    return false;
  }
}
