import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import type { Random } from './random.ts';

/**
 * Ids come from Node's random bytes. While `work` runs they come from the seed, so that a sequence can be repeated,
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
  replaceRandomBytes(seeded as typeof crypto.randomBytes); // without the form that calls back, which nobody here uses
  try {
    return await work();
  } finally {
    replaceRandomBytes(real);
  }
}

function replaceRandomBytes(source: typeof crypto.randomBytes): void {
  crypto.randomBytes = source;
  syncBuiltinESMExports();
}
