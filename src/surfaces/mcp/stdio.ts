import type { Readable, Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { McpServer } from '@modelcontextprotocol/server';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { INVALID_REQUEST, NO_BATCHES } from './http-exchange.ts';
import { LineGate } from './line-gate.ts';
import { RefuseBatches } from './refuse-batches.ts';

/** What a client asked for before it closed its end may still be answered so long; it seldom takes 10 ms. */
const GRACE_MS = 2_000;
const LOOK_MS = 5;
/** Which request the line was is not known. */
const NOT_JSON = `${JSON.stringify({
  jsonrpc: '2.0',
  id: null,
  error: { code: -32700, message: 'Parse error: the line is not JSON' },
})}\n`;
const NO_BATCH = `${JSON.stringify({
  jsonrpc: '2.0',
  error: { code: INVALID_REQUEST, message: NO_BATCHES },
  id: null,
})}\n`;

/**
 * One client on a pair of streams, in whichever generation of the protocol it speaks. Settles when the input has ended
 * and what was asked for before has been answered; a wait that would take longer is broken off.
 */
export async function serveOverStdio(
  createServer: () => McpServer,
  {
    input,
    output,
    report,
  }: {
    readonly input: Readable;
    readonly output: Writable;
    readonly report: (line: string) => void;
  },
): Promise<void> {
  // The library hangs up the moment its input ends, and `echo … | forge mcp` would go without an answer.
  const held = new RefuseBatches(() => output.write(NO_BATCH));
  const lines = held.pipe(new LineGate(() => output.write(NOT_JSON)));
  const transport = new CountingTransport([held, lines], output);
  const served = serveStdio(createServer, {
    transport,
    onerror: (error) => report(`mcp: ${error.message}`),
  });
  const gone = Promise.withResolvers<void>();
  output.once('error', () => gone.resolve());
  output.once('close', () => gone.resolve());
  input.pipe(held, { end: false });
  await Promise.race([finished(input, { writable: false }).catch(() => undefined), gone.promise]);
  await Promise.race([transport.settle(), gone.promise]);
  await served.close();
  held.destroy();
}

/** Knows how many requests have no answer yet. */
class CountingTransport extends StdioServerTransport {
  readonly #open = new Set<string | number>();
  readonly #inputs: readonly Readable[];
  #receive: StdioServerTransport['onmessage'];

  /** What comes in goes from one to the other. */
  constructor(inputs: readonly [RefuseBatches, LineGate], output: Writable) {
    super(inputs[1], output);
    this.#inputs = inputs;
    Object.defineProperty(this, 'onmessage', {
      get: () => this.#receive,
      set: (receive: StdioServerTransport['onmessage']) => {
        this.#receive = (message) => {
          if ('method' in message && 'id' in message) this.#open.add(message.id);
          receive?.(message);
        };
      },
    });
  }

  override async send(message: Parameters<StdioServerTransport['send']>[0]): Promise<void> {
    await super.send(message);
    if (!('method' in message) && message.id !== undefined) this.#open.delete(message.id);
  }

  async settle(): Promise<void> {
    const over = AbortSignal.timeout(GRACE_MS);
    do {
      await sleep(LOOK_MS);
    } while (!over.aborted && (this.#open.size > 0 || this.#inputs.some((one) => one.readableLength > 0)));
  }
}
