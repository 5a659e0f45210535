import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** What is taken of one source before it is the turn of the others. */
const TURN_BYTES = 16_384;

/** The chunk is the taker's until its promise is settled, or else until it returns: it is filled again after that. */
export type TakeChunk = (chunk: Buffer) => void | Promise<void>;

/** What a program writes, as it comes. */
export interface OutputSource {
  /** To the end. A source that breaks has ended; what the taker throws is thrown, and nothing more is read. */
  read(take: TakeChunk): Promise<void>;
  /** Reads on and forgets it, or what is left of the program would wait for somebody who reads. */
  skip(): void;
  destroy(): void;
}

/** For a pipe that Node made for its child, if it made one. Every chunk of it is a buffer of its own. */
export function fromStream(stream: Readable | null): OutputSource {
  if (stream === null)
    return { read: async () => undefined, skip: () => undefined, destroy: () => undefined };
  return {
    async read(take) {
      for await (const chunk of readTurns(stream)) {
        const taken = take(chunk);
        if (taken !== undefined) await taken;
      }
    },
    skip: () => void stream.resume(),
    destroy: () => void stream.destroy(),
  };
}

async function* readTurns(stream: Readable): AsyncGenerator<Buffer> {
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

/** For a pipe of our own, which is read into one buffer: fifty that write much else cost as much memory as the server. */
export function fromPipe(fd: number): OutputSource {
  return new PipeSource(fd);
}

class PipeSource implements OutputSource {
  readonly #socket: Socket;
  readonly #ended = Promise.withResolvers<void>();
  #take: TakeChunk | undefined;
  /** What came before anybody wanted it. */
  #early: Buffer | undefined;

  constructor(fd: number) {
    const buffer = Buffer.allocUnsafeSlow(TURN_BYTES);
    const callback = (bytes: number): boolean => this.#receive(buffer.subarray(0, bytes));
    this.#socket = new Socket({ fd, readable: true, writable: false, onread: { buffer, callback } });
    this.#socket.on('error', () => undefined);
    this.#socket.once('close', () => this.#ended.resolve());
  }

  read(take: TakeChunk): Promise<void> {
    this.#start(take);
    return this.#ended.promise;
  }

  skip(): void {
    this.#start(() => undefined);
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #start(take: TakeChunk): void {
    this.#take = take;
    const early = this.#early;
    this.#early = undefined;
    if (early === undefined || this.#receive(early)) this.#socket.resume();
  }

  /** False where the socket has to wait; it is told when to go on. */
  #receive(chunk: Buffer): boolean {
    if (this.#take === undefined) {
      this.#early = chunk;
      return false;
    }
    try {
      const taken = this.#take(chunk);
      if (taken === undefined && chunk.length < TURN_BYTES) return true;
      // There is more; it waits for its turn.
      if (taken === undefined) setImmediate(() => this.#socket.resume());
      else taken.then(() => this.#socket.resume(), this.#ended.reject);
    } catch (thrown) {
      this.#ended.reject(thrown);
    }
    return false;
  }
}
