import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openRandomSession } from './power-loss-sweep.ts';
import { WHY_NO_STRACE } from './strace-points.ts';
import { copyProgram } from './strace-sweep.ts';

/** In each session. */
const CUTS = Number(process.env['FORGE_POWER_CUTS'] ?? 105);

/** One recorded session a seed, cut at random places; `held`: a reader keeps the database open meanwhile. */
export function describePowerLoss(
  title: string,
  { seeds, held }: { readonly seeds: readonly number[]; readonly held: boolean },
): void {
  const why = WHY_NO_STRACE === undefined ? '' : ` (left out: ${WHY_NO_STRACE})`;
  describe.skipIf(WHY_NO_STRACE !== undefined)(`${title}${why}`, () => {
    let program: ReturnType<typeof copyProgram>;
    beforeAll(() => {
      program = copyProgram();
    });
    afterAll(() => program[Symbol.dispose]());

    test.for([...seeds])(
      'F7 takes nothing that was acknowledged and leaves nothing half done (seed %i)',
      async (seed, { annotate }) => {
        await using loss = await openRandomSession(program.script, { seed, held });
        const { replays, unsound, violations } = await loss.sweep(CUTS, seed);
        expect(violations).toEqual([]);
        await annotate(`${replays} replays`);
        const { disk, steps } = loss.session;
        await annotate(`${disk.length} changes in ${steps.length} steps, ${unsound} unsound databases`);
      },
    );
  });
}
