import { expect, it } from 'vitest';
import {
  describeProcessFailure,
  makeProcessSequence,
  runProcessSequence,
} from './support/sync-process-sequence.ts';

/** Beyond the seeds of the short run. */
const FIRST_SEED = 1_000;
/** In parts, so that a failure is told before all 200 are through. */
const PART = 10;

it.for(Array.from({ length: 20 }, (_, part) => FIRST_SEED + part * PART))(
  `${PART} sequences of real programs over three clones lose nothing, from seed %i`,
  async (from) => {
    for (let seed = from; seed < from + PART; seed += 1) {
      const outcome = await runProcessSequence(makeProcessSequence(seed));
      expect(describeProcessFailure(seed, outcome)).toBe('');
    }
  },
);
