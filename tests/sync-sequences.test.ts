import { describe, expect, it } from 'vitest';
import { shareOf } from './support/share-of.ts';
import { SYNC_MUTANTS } from './support/sync-mutants.ts';
import { describeFailure, makeSequence, runSequence } from './support/sync-sequence.ts';
import { SYNC } from './support/sync-world.ts';

/** The long run is in sync-sequences.soak.test.ts. */
const SEQUENCES = 15;
const TIMEOUT_MS = 300_000;

describe('sequences of git and forge over three clones', () => {
  it.for(SYNC_MUTANTS.map((mutant) => [mutant.name, mutant] as const))(
    'find a mistake: %s',
    { timeout: TIMEOUT_MS },
    async ([, { seed, world }]) => {
      let found: readonly string[] = [];
      for (let at = -1; at < SEQUENCES && found.length === 0; at += 1) {
        found = (await runSequence(makeSequence(at < 0 ? seed : at), world)).failures;
      }
      expect(found).not.toEqual([]);
    },
  );

  it('lose nothing and end with equal clones', { timeout: TIMEOUT_MS }, async () => {
    let writes = 0;
    const seeds = shareOf([...Array(SEQUENCES).keys()], 2);
    for (const seed of seeds) {
      const sequence = makeSequence(seed);
      const outcome = await runSequence(sequence, SYNC);
      if (outcome.failures.length > 0) throw new Error(await describeFailure(sequence, SYNC));
      writes += outcome.writes;
    }
    expect(writes).toBeGreaterThan(5 * seeds.length);
  });

  it('are the same for the same seed', { timeout: TIMEOUT_MS }, async () => {
    const sequence = makeSequence(7);
    const [first, second] = [await runSequence(sequence, SYNC), await runSequence(sequence, SYNC)];
    expect(second.told).toEqual(first.told);
    expect(first.told.length).toBeGreaterThan(sequence.steps.length);
  });
});
