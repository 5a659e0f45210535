import { expect, it } from 'vitest';
import { HTTP_SETUPS, runOverHttp } from './support/linear-http.ts';
import { checkClaims } from './support/linear-models.ts';
import { expectNoLongBlock } from './support/loop-blocks.ts';

/** Beyond the seed of the short run. */
const FIRST_SEED = 1_000;
/** In parts, so that a failure is told before all 150 rounds are through. */
const PART = 10;

it.for(Array.from({ length: 15 }, (_, part) => FIRST_SEED + part * PART))(
  `${PART} rounds of eight clients of a server: one order explains every answer, from seed %i`,
  async (from) => {
    for (let seed = from; seed < from + PART; seed += 1) {
      const { operations } = await runOverHttp(seed, { count: 150, kills: 6 });
      const { violation } = checkClaims(operations, HTTP_SETUPS);
      expect(violation && `Seed ${seed}: ${violation}`).toBeUndefined();
    }
  },
);

expectNoLongBlock(import.meta.filename);
