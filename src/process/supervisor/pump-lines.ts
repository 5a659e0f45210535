import type { Readable } from 'node:stream';
import { LineSplitter, type OutputLine } from './line-splitter.ts';

export interface LineSink {
  readonly line_bytes: number;
  /** How much of the chunk may be used; what goes beyond is read and forgotten. */
  admit(chunk: Buffer): number;
  /** A promise makes the reader wait, and so the program once the pipe is full. */
  take(line: OutputLine): void | Promise<void>;
}

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
    yield next.value;
  }
}
