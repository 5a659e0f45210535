import type { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { LineSplitter, type OutputLine } from './line-splitter.ts';

export interface LineSink {
  readonly line_bytes: number;
  /** How much of the chunk may be used; what goes beyond is read and forgotten. */
  admit(chunk: Buffer): number;
  /** A promise makes the reader wait, and so the program once the pipe is full. */
  take(line: OutputLine): void | Promise<void>;
}

/** What is taken of one stream before it is the turn of the others. */
const TURN_BYTES = 16_384;

/** Reads a stream to its end, line by line. A stream that breaks has ended; what the sink throws is thrown. */
export async function pumpLines(stream: Readable, sink: LineSink): Promise<void> {
  const splitter = new LineSplitter(sink.line_bytes);
  for await (const chunk of readChunks(stream)) {
    for (const line of splitter.push(chunk.subarray(0, sink.admit(chunk)))) {
      const taken = sink.take(line);
      if (taken !== undefined) await taken;
    }
  }
  const last = splitter.flush();
  if (last !== undefined) await sink.take(last);
}

async function* readChunks(stream: Readable): AsyncGenerator<Buffer> {
  const chunks: AsyncIterator<Buffer> = stream[Symbol.asyncIterator]();
  for (;;) {
    let next: IteratorResult<Buffer>;
    try {
      next = await chunks.next();
    } catch {
      return;
    }
    if (next.done === true) return;
    const chunk = next.value;
    for (let at = 0; at < chunk.length; at += TURN_BYTES) {
      // Fifty programs that all write as fast as they can must not keep everything else waiting.
      if (at > 0) await nextTurn();
      yield chunk.subarray(at, at + TURN_BYTES);
    }
  }
}
