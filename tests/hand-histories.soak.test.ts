import { expect, it } from 'vitest';
import { runHandHistory } from './support/hand-history.ts';
import { SYNC } from './support/sync-world.ts';

/** Beyond the seeds of the short run. */
const FIRST_SEED = 10_000;
/** In parts, so that a failure is told before all are through. */
const PART = 100;

it.for(Array.from({ length: 20 }, (_, part) => FIRST_SEED + part * PART))(
  `[D1] ${PART} histories with an edit by hand in every third step lose none, from seed %i`,
  async (from) => {
    for (let seed = from; seed < from + PART; seed += 1) {
      const outcome = await runHandHistory(seed, SYNC);
      const told = outcome.failures.length > 0 ? outcome.told : [];
      expect([seed, ...outcome.failures, ...told]).toEqual([seed]);
    }
  },
);
