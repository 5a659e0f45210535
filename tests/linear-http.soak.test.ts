import { expect, it } from 'vitest';
import { firstDecided } from './support/linear-check.ts';
import { HTTP_SETUPS, runOverHttp } from './support/linear-http.ts';
import { checkClaims } from './support/linear-models.ts';
import { expectNoLongBlock } from './support/loop-blocks.ts';

/** Beyond the seed of the short run. */
const FIRST_SEED = 1_000;
/** In the place of a round that cannot be decided, as happens on a busy machine: then more is under way at once. */
const OTHERS = 10_000;
/** So many are tried in its place. */
const TRIES = 6;
/** A history that is decided at all most often takes a thousand. */
const CONFIGURATIONS = 100_000;
/** In parts, so that a failure is told before all 150 rounds are through. */
const PART = 10;

it.for(Array.from({ length: 15 }, (_, part) => FIRST_SEED + part * PART))(
  `${PART} rounds of eight clients of a server: one order explains every answer, from seed %i`,
  async (from) => {
    for (let first = from; first < from + PART; first += 1)
      await firstDecided(
        Array.from({ length: TRIES }, (_, at) => first + at * OTHERS),
        async (seed) => {
          const { operations } = await runOverHttp(seed, { count: 150, kills: 6 });
          const { violation } = checkClaims(operations, HTTP_SETUPS, CONFIGURATIONS);
          expect(violation && `Seed ${seed}: ${violation}`).toBeUndefined();
        },
      );
  },
);

expectNoLongBlock(import.meta.filename);
