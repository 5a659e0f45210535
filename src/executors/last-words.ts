import { LIMITS } from '#kernel/limits.ts';

const FIRST_BYTES = 1_024;

/**
 * The end of what a program says, line by line, so many bytes of it. In one buffer that is used over and over: a program
 * may write a hundred thousand lines a second, and what is kept of each for a moment would be a lot to clean up.
 */
export class LastWords {
  readonly #limit: number;
  #bytes = Buffer.alloc(0);
  #end = 0;

  constructor(limit: number = LIMITS.last_message_length) {
    this.#limit = limit;
  }

  add(line: string): void {
    const length = Buffer.byteLength(line);
    if (length < this.#limit) {
      this.#makeRoom(length + 1);
      this.#end += this.#bytes.write(line, this.#end);
    } else {
      const rest = Buffer.from(line).subarray(length + 1 - this.#limit);
      this.#makeRoom(this.#limit);
      this.#end += rest.copy(this.#bytes, this.#end);
    }
    this.#end += this.#bytes.write('\n', this.#end);
  }

  toString(): string {
    let from = Math.max(0, this.#end - this.#limit);
    // Half a character at the cut is left out.
    while (from > 0 && ((this.#bytes[from] ?? 0) & 0xc0) === 0x80) from += 1;
    return this.#bytes.toString('utf8', from, this.#end).trimEnd();
  }

  #makeRoom(needed: number): void {
    if (this.#end + needed <= this.#bytes.length) return;
    const kept = Math.min(this.#end, this.#limit);
    // A quarter more than is kept: whatever is over is moved away now and then.
    const most = Math.max(kept + needed, this.#limit + (this.#limit >> 2));
    const size = Math.min(most, Math.max(FIRST_BYTES, (kept + needed) * 2));
    const to = size > this.#bytes.length ? Buffer.alloc(size) : this.#bytes;
    this.#bytes.copy(to, 0, this.#end - kept, this.#end);
    this.#bytes = to;
    this.#end = kept;
  }
}
