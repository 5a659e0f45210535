/** The end of what was written, for messages. */
export class OutputTail {
  readonly #max: number;
  #kept = Buffer.alloc(0);
  #dropped = false;

  constructor(max_bytes: number) {
    this.#max = max_bytes;
  }

  push(chunk: Buffer): void {
    const all = Buffer.concat([this.#kept, chunk.subarray(-this.#max)]);
    this.#dropped ||= this.#kept.length + chunk.length > this.#max;
    // Copied: a view would keep the whole chunk.
    this.#kept = Buffer.from(all.subarray(-this.#max));
  }

  toString(): string {
    const text = this.#kept.toString('utf8');
    // What was cut may begin in the middle of a character.
    return this.#dropped ? text.replace(/^\uFFFD+/, '') : text;
  }
}
