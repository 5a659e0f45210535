import fc from 'fast-check';
import { describe, it } from 'vitest';
import { memoryStore } from '../../tests/support/memory-store.ts';
import { tempStore } from '../../tests/support/temp-store.ts';
import { storesAreEqual } from './behaviour/lockstep-behaviour.ts';
import { readWork, someWork } from './behaviour/lockstep-work-behaviour.ts';

/** Seconds on an idle machine; a busy one must not fail it. */
const LONG = { timeout: 120_000 };

describe('the store in memory', LONG, () => {
  it('answers every call as SQLite does, with the same events and the same refusals', async () => {
    await fc.assert(storesAreEqual(tempStore, memoryStore), {
      numRuns: 100,
      seed: 20260210,
      endOnFailure: true,
    });
  });

  it('does so for attempts, runs, reviews, merges, approvals, messages and watches', async () => {
    const lockstep = { acts: someWork, readMore: readWork };
    await fc.assert(storesAreEqual(tempStore, memoryStore, lockstep), { numRuns: 60, seed: 20260210 });
  });
});
