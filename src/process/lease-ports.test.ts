import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { describe, expect, it } from 'vitest';
import { findPortBlock } from './lease-ports.ts';

describe('a block of ports', () => {
  it('is one on which nobody listens, and that nobody else has', async () => {
    const range = { first: 21_000, last: 21_400 };
    const free = await findPortBlock({ size: 10, taken: [], range });
    await using busy = await listen(free.first + 4);
    const second = await findPortBlock({ size: 10, taken: [], range });
    expect(second.first).toBeGreaterThan(busy.port);
    const third = await findPortBlock({ size: 10, taken: [second], range });
    expect(third.first).toBeGreaterThanOrEqual(second.first + 10);
    for (let port = third.first; port < third.first + 10; port += 1) {
      await using listening = await listen(port);
      expect(listening.port).toBe(port);
    }
  });

  it('is refused when there is none left', async () => {
    const range = { first: 21_500, last: 21_509 };
    const taken = [{ first: 21_505, size: 1 }];
    await expect(findPortBlock({ size: 6, taken, range })).rejects.toMatchObject({
      code: 'not_available',
      message: 'No 6 free ports in a row between 21500 and 21509',
    });
    await expect(findPortBlock({ size: 101, taken: [] })).rejects.toMatchObject({ code: 'internal' });
  });

  it('lies below the ports that the system hands out itself', async () => {
    const { first, size } = await findPortBlock({ size: 3, taken: [] });
    expect(first).toBeGreaterThanOrEqual(20_000);
    expect(first + size).toBeLessThanOrEqual(32_001);
  });
});

async function listen(port: number): Promise<AsyncDisposable & { port: number }> {
  const server: Server = createServer().listen({ port, host: '127.0.0.1' });
  await once(server, 'listening');
  return {
    port,
    async [Symbol.asyncDispose]() {
      server.close();
      await once(server, 'close');
    },
  };
}
