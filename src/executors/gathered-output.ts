import type { TranscriptEntry } from '#contract/transcript.ts';
import { LIMITS } from '#kernel/limits.ts';

type Stream = 'stdout' | 'stderr';

/**
 * Lines that came together become one entry: a program that writes a megabyte a second would else make five thousand of
 * them, and each costs as much as its text.
 */
export class GatheredOutput {
  readonly #tell: (entry: TranscriptEntry) => void;
  readonly #limit: number;
  #stream: Stream = 'stdout';
  #lines: string[] = [];
  #length = 0;

  constructor(tell: (entry: TranscriptEntry) => void, limit: number = LIMITS.output_entry_length) {
    this.#tell = tell;
    this.#limit = limit;
  }

  add(stream: Stream, line: string): void {
    if (stream !== this.#stream || this.#length + line.length > this.#limit) this.flush();
    // All lines of one read are added before anything else happens.
    if (this.#lines.length === 0) queueMicrotask(() => this.flush());
    this.#stream = stream;
    this.#lines.push(line);
    this.#length += line.length + 1;
  }

  /** What was added is told before anything that is told now. */
  flush(): void {
    if (this.#lines.length === 0) return;
    const text = this.#lines.join('\n');
    this.#lines = [];
    this.#length = 0;
    this.#tell({ kind: 'output', stream: this.#stream, text });
  }
}
