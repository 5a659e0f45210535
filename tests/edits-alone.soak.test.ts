import { expect, it } from 'vitest';
import { ALONE_MODES, editAlone } from './support/edits-alone.ts';

const STORIES = 100;
const STEPS = 40;

it.for(ALONE_MODES)(
  `[D1] ${STORIES} stories of one person whose values come again, in %s mode`,
  async (mode, { annotate }) => {
    for (let seed = 1_000; seed < 1_000 + STORIES; seed += 1)
      expect([seed, ...(await editAlone(seed, mode, STEPS))]).toEqual([seed]);
    await annotate(`${STORIES * STEPS} steps`);
  },
);
