import { expect, it } from 'vitest';
import { describeFailure, makeSequence, runSequence } from './support/sync-sequence.ts';
import { SYNC } from './support/sync-world.ts';

/** Beyond the seeds of the short run. */
const FIRST_SEED = 100_000;
/** In parts, so that a failure is told before all 5,000 are through. */
const PART = 500;

it.for(Array.from({ length: 10 }, (_, part) => FIRST_SEED + part * PART))(
  `${PART} sequences over three clones lose nothing, from seed %i`,
  async (from) => {
    let writes = 0;
    for (let seed = from; seed < from + PART; seed += 1) {
      const sequence = makeSequence(seed);
      const outcome = await runSequence(sequence, SYNC);
      if (outcome.failures.length > 0) throw new Error(await describeFailure(sequence, SYNC));
      writes += outcome.writes;
    }
    expect(writes).toBeGreaterThan(5 * PART);
  },
);
