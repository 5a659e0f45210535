import { expect, it } from 'vitest';
import { ALONE_MODES, BETWEEN_MS, editAlone } from './support/edits-alone.ts';

const STORIES = 100;
const STEPS = 40;
/** Git notes in seconds when HEAD moved, so that longer pauses lead other ways. */
const PAUSES = [BETWEEN_MS, BETWEEN_MS, BETWEEN_MS, BETWEEN_MS, BETWEEN_MS, 2_100];

it.for(ALONE_MODES)(
  `[D1] ${STORIES} stories of one person whose values come again, in %s mode`,
  async (mode, { annotate }) => {
    for (let seed = 1_000; seed < 1_000 + STORIES; seed += 1)
      expect([seed, ...(await editAlone(seed, mode, { steps: STEPS, pauses: PAUSES }))]).toEqual([seed]);
    await annotate(`${STORIES * STEPS} steps`);
  },
);
