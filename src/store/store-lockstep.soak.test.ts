import fc from 'fast-check';
import { it } from 'vitest';
import { memoryStore } from '../../tests/support/memory-store.ts';
import { tempStore } from '../../tests/support/temp-store.ts';
import { storesAreEqual } from './behaviour/lockstep-behaviour.ts';

it('SQLite and the store in memory stay equal through 5,000 sequences of calls', async () => {
  await fc.assert(storesAreEqual(tempStore, memoryStore), { numRuns: 5_000 });
});
