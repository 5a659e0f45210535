import fc from 'fast-check';
import { it } from 'vitest';
import { memoryStore } from '../../tests/support/memory-store.ts';
import { tempStore } from '../../tests/support/temp-store.ts';
import { describeFoldLockstep } from './behaviour/fold-lockstep-behaviour.ts';
import { storesAreEqual } from './behaviour/lockstep-behaviour.ts';
import { readWork, someWork } from './behaviour/lockstep-work-behaviour.ts';

it('SQLite and the store in memory stay equal through 5,000 sequences of calls', async () => {
  await fc.assert(storesAreEqual(tempStore, memoryStore), { numRuns: 5_000 });
});

it('and through 5,000 sequences of calls about attempts', async () => {
  const lockstep = { acts: someWork, readMore: readWork };
  await fc.assert(storesAreEqual(tempStore, memoryStore, lockstep), { numRuns: 5_000 });
});

describeFoldLockstep('SQLite and memory', { open: tempStore, openOther: memoryStore, seeds: 500 });
