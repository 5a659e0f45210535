import { expect, it } from 'vitest';
import { SETUPS } from './support/linear-requests.ts';
import { describeRun, runClients } from './support/linear-run.ts';

/** Beyond the seed of the short run. */
const FIRST_SEED = 1_000;
/** In parts, so that a failure is told before all 850 rounds are through. */
const PART = 10;
/** By eight clients on five tasks; what asks for the next one is about all of them. So each has over two hundred. */
const COUNT = 220;

it.for(Array.from({ length: 85 }, (_, part) => FIRST_SEED + part * PART))(
  `${PART} rounds of eight processes: one order explains every answer, from seed %i`,
  async (from) => {
    let operations = 0;
    for (let seed = from; seed < from + PART; seed += 1) {
      const run = await runClients(seed, { count: COUNT, kills: 8 });
      expect(describeRun(seed, run)).toBe('');
      operations += run.operations.length;
    }
    expect(operations).toBeGreaterThan(PART * SETUPS.length * 200);
  },
);
