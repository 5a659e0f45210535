import crypto from 'node:crypto';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import type { Random } from './random.ts';

/**
 * Ids come from the system's random bytes, or from Node's where there is no device that has them. While `work` runs they come from the seed, so that a sequence can be repeated,
 * and those of `size` bytes are often one of a few: then clones give the same id to different tasks.
 */
export async function withSeededBytes<T>(
  random: Random,
  often: { readonly size: number; readonly values: readonly (readonly number[])[] },
  work: () => Promise<T>,
): Promise<T> {
  const real = crypto.randomBytes;
  const seeded = (size: number): Buffer => {
    if (size === often.size && random.oneIn(2)) return Buffer.from(random.pick(often.values));
    return Buffer.from(Array.from({ length: size }, () => random.below(252)));
  };
  const open = fs.openSync;
  const withoutDevice: typeof fs.openSync = (path, ...more) => {
    if (path === '/dev/urandom') throw new Error('no such device while bytes are seeded');
    return open(path, ...more);
  };
  // Without the form that calls back, which nobody here uses.
  replaceSources(seeded as typeof crypto.randomBytes, withoutDevice);
  try {
    return await work();
  } finally {
    replaceSources(real, open);
  }
}

function replaceSources(bytes: typeof crypto.randomBytes, open: typeof fs.openSync): void {
  crypto.randomBytes = bytes;
  fs.openSync = open;
  syncBuiltinESMExports();
}
