import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openRandomSession } from '../support/power-loss-sweep.ts';
import { WHY_NO_STRACE } from '../support/strace-points.ts';
import { copyProgram } from '../support/strace-sweep.ts';

/** In each of the five sessions. */
const CUTS = Number(process.env['FORGE_POWER_CUTS'] ?? 105);
const why = WHY_NO_STRACE === undefined ? '' : ` (left out: ${WHY_NO_STRACE})`;

describe.skipIf(WHY_NO_STRACE !== undefined)(
  `power that fails at any write while a reader has the database open${why}`,
  () => {
    let program: ReturnType<typeof copyProgram>;
    beforeAll(() => {
      program = copyProgram();
    });
    afterAll(() => program[Symbol.dispose]());

    test.for([2, 4, 6, 8, 10])(
      'F7 takes nothing that was acknowledged and leaves nothing half done (seed %i)',
      async (seed, { annotate }) => {
        await using loss = await openRandomSession(program.script, { seed, held: true });
        const { replays, unsound, violations } = await loss.sweep(CUTS, seed);
        expect(violations).toEqual([]);
        await annotate(`${replays} replays`);
        const { disk, steps } = loss.session;
        await annotate(`${disk.length} changes in ${steps.length} steps, ${unsound} unsound databases`);
      },
    );
  },
);
