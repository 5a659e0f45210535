import { expect, it } from 'vitest';
import { checkClaims } from './support/linear-models.ts';
import { SETUPS } from './support/linear-requests.ts';
import { simulateHistory } from './support/linear-simulate.ts';

/** Beyond the seeds of the short run. */
const FIRST_SEED = 100_000;
/** In parts, so that a failure is told before all 20,000 are through. */
const PART = 2_000;

it.for(Array.from({ length: 10 }, (_, part) => FIRST_SEED + part * PART))(
  `${PART} histories in memory are explained, from seed %i`,
  (from) => {
    for (let seed = from; seed < from + PART; seed += 1) {
      const { violation } = checkClaims(simulateHistory(seed, 200), SETUPS);
      expect(violation && `Seed ${seed}: ${violation}`).toBeUndefined();
    }
  },
);
