import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeSession } from '../support/power-loss-script.ts';
import { openPowerLoss } from '../support/power-loss-sweep.ts';
import { seededRandom } from '../support/random.ts';
import { WHY_NO_STRACE } from '../support/strace-points.ts';
import { copyProgram } from '../support/strace-sweep.ts';

/** In each of the ten sessions. */
const CUTS = Number(process.env['FORGE_POWER_CUTS'] ?? 105);
const TASKS = 8;
const why = WHY_NO_STRACE === undefined ? '' : ` (left out: ${WHY_NO_STRACE})`;

describe.skipIf(WHY_NO_STRACE !== undefined)(`power that fails at any write${why}`, () => {
  let program: ReturnType<typeof copyProgram>;
  beforeAll(() => {
    program = copyProgram();
  });
  afterAll(() => program[Symbol.dispose]());

  test.for(Array.from({ length: 10 }, (_, at) => ({ seed: at + 1, held: at % 2 === 1 })))(
    'F7 takes nothing that was acknowledged and leaves nothing half done (seed $seed, held by a reader: $held)',
    async ({ seed, held }, { annotate }) => {
      // Who rebuilds the database does so alone.
      const steps = writeSession(seededRandom(seed), TASKS, held ? ['rebuild'] : []);
      await using loss = await openPowerLoss(program.script, { tasks: TASKS, steps, held });
      const { replays, unsound, violations } = await loss.sweep(CUTS, seed);
      expect(violations).toEqual([]);
      await annotate(`${replays} replays`);
      await annotate(
        `of ${loss.session.disk.length} changes in ${steps.length} steps; ${unsound} databases were made anew`,
      );
    },
  );
});
