import { describe, expect, it } from 'vitest';
import { runSeed, SCRIPT_MODES } from './support/script-history.ts';
import { shrinkSeed } from './support/script-shrink.ts';

const HISTORIES = 150;
/** In parts, so that a failure is told before all are through. */
const PART = 10;
const STEPS = 30;
/** Beyond the seeds of the short run. */
const FIRST = 1_000;
/** Of a hundred: a replaced value that stands again, where what replaced it is told. */
const REVERTED = 5;

describe.for(SCRIPT_MODES)('[D1] in %s mode', (mode) => {
  const reverted: string[] = [];

  it.for(Array.from({ length: HISTORIES / PART }, (_, part) => FIRST + part * PART))(
    `${PART} histories of three clones with git, hooks, scripts and a server lose nothing, from seed %i`,
    async (from) => {
      for (let seed = from; seed < from + PART; seed += 1) {
        const outcome = await runSeed(seed, mode, STEPS);
        const told = outcome.lost.length === 0 ? [] : (await shrinkSeed(seed, mode, STEPS)).told;
        expect([seed, ...outcome.lost, ...told]).toEqual([seed]);
        if (outcome.reverted.length > 0) reverted.push(`${seed}: ${outcome.reverted.join('; ')}`);
      }
    },
  );

  it('hardly a replaced value stands again', async ({ annotate }) => {
    await annotate(`${reverted.length} of ${HISTORIES} histories`);
    expect([reverted.length <= (HISTORIES * REVERTED) / 100, reverted]).toEqual([true, reverted]);
  });
});
