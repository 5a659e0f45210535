import { LineSplitter, type OutputLine } from './line-splitter.ts';
import type { OutputSource } from './output-source.ts';

export interface LineSink {
  readonly line_bytes: number;
  /** How much of the chunk may be used; what goes beyond is read and forgotten. */
  admit(chunk: Buffer): number;
  /** A promise makes the reader wait, and so the program once the pipe is full. */
  take(line: OutputLine): void | Promise<void>;
}

/** Reads to the end, line by line. What the sink throws is thrown. */
export async function pumpLines(source: OutputSource, sink: LineSink): Promise<void> {
  const splitter = new LineSplitter(sink.line_bytes);
  await source.read((chunk) => takeAll(splitter.push(chunk.subarray(0, sink.admit(chunk))), sink));
  const last = splitter.flush();
  if (last !== undefined) await sink.take(last);
}

function takeAll(lines: Iterator<OutputLine>, sink: LineSink): void | Promise<void> {
  for (let next = lines.next(); next.done !== true; next = lines.next()) {
    const taken = sink.take(next.value);
    if (taken !== undefined) return taken.then(() => takeAll(lines, sink));
  }
  return undefined;
}
