import { describe, expect, it } from 'vitest';
import { ALONE_MODES, editAlone } from './support/edits-alone.ts';
import { shareOf } from './support/share-of.ts';

/** A story in which the status is edited by hand, too; more of them are in the soak. */
const SEED = 2;

describe.for(shareOf(ALONE_MODES, 2))('[D1] one person whose values come again, in %s mode', (mode) => {
  it.for([SEED])(
    'what was written last is what the task has, by hand and by command (seed %i)',
    async (seed) => {
      expect(await editAlone(seed, mode, { steps: 20 })).toEqual([]);
    },
  );
});
