import { createServer } from 'node:net';
import { assert } from '#kernel/assert.ts';
import { ForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';

/** Ports from `first` on, as many as `size`. */
export interface PortBlock {
  readonly first: number;
  readonly size: number;
}

/**
 * A block of ports on which nobody listens now and that is not in `taken`. Nothing is held: whoever asks writes the
 * lease down before anybody else asks.
 */
export async function findPortBlock(options: {
  readonly size: number;
  readonly taken: readonly PortBlock[];
  readonly range?: { readonly first: number; readonly last: number };
}): Promise<PortBlock> {
  const { size, taken, range = { first: LIMITS.port_first, last: LIMITS.port_last } } = options;
  assert(Number.isInteger(size) && size >= 1 && size <= LIMITS.port_block, `a block of ${size} ports`);
  let first = range.first;
  while (first + size - 1 <= range.last) {
    const over = findOverlap({ first, size }, taken);
    const busy = over === undefined ? await findBusyPort({ first, size }) : undefined;
    if (over === undefined && busy === undefined) return { first, size };
    first = over === undefined ? (busy ?? first) + 1 : over.first + over.size;
  }
  throw new ForgeError(
    'not_available',
    `No ${size} free ports in a row between ${range.first} and ${range.last}`,
    {
      hint: 'forge workspace clean',
      details: { taken: taken.length },
    },
  );
}

function findOverlap(block: PortBlock, taken: readonly PortBlock[]): PortBlock | undefined {
  return taken.find(
    (other) => block.first < other.first + other.size && other.first < block.first + block.size,
  );
}

async function findBusyPort({ first, size }: PortBlock): Promise<number | undefined> {
  for (let port = first; port < first + size; port += 1) {
    if (!(await canListen(port))) return port;
  }
  return undefined;
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });
}
