import { examineCut, readAcknowledged, type Known } from './power-loss-check.ts';
import type { Cut } from './power-loss-cut.ts';
import { writeSession } from './power-loss-script.ts';
import { recordSession, type RecordedSession, type SessionStep } from './power-loss-session.ts';
import { seededRandom } from './random.ts';
import { openWorkshop, type Workshop } from './strace-scenarios.ts';

/** A session that was recorded once, and can be cut anywhere. */
export interface OpenPowerLoss extends AsyncDisposable {
  readonly session: RecordedSession;
  /** Cuts the power at so many places of the seed; a sentence for each thing that was wrong. */
  sweep(cuts: number, seed: number): Promise<Swept>;
  /** Cuts it once: what was wrong. */
  cut(cut: Omit<Cut, 'random'>, seed: number): Promise<readonly string[]>;
}

export interface Swept {
  readonly replays: number;
  /** Cuts after which SQLite itself found a fault in the file, before Forge began. */
  readonly unsound: number;
  readonly violations: readonly string[];
}

const TASKS = 8;

/** A session of every kind of command, in an order of the seed. */
export function openRandomSession(
  script: string,
  { seed, held }: { readonly seed: number; readonly held: boolean },
): Promise<OpenPowerLoss> {
  // A command that rebuilds the database has it to itself.
  const steps = writeSession(seededRandom(seed), TASKS, held ? ['rebuild'] : []);
  return openPowerLoss(script, { tasks: TASKS, steps, held });
}

export async function openPowerLoss(
  script: string,
  options: {
    readonly tasks: number;
    /** Commands before the recording. */
    readonly before?: readonly (readonly string[])[];
    readonly steps: readonly SessionStep[];
    /** See `recordSession`. */
    readonly held: boolean;
  },
): Promise<OpenPowerLoss> {
  const shop: Workshop = await openWorkshop(script, options);
  for (const args of options.before ?? []) await shop.must(shop.template, ...args);
  const session = await recordSession(shop, script, options.steps, options);
  const known: readonly Known[] = await readAcknowledged(shop, session);
  return {
    session,
    async cut(cut, seed) {
      return (await examineCut(shop, session, known, { ...cut, random: seededRandom(seed) })).wrong;
    },
    async sweep(cuts, seed) {
      const random = seededRandom(seed);
      const violations: string[] = [];
      let unsound = 0;
      for (let n = 0; n < cuts; n += 1) {
        const at = random.below(session.disk.length + 1);
        const own = random.below(1 << 30);
        const { wrong, sound } = await examineCut(shop, session, known, { at, random: seededRandom(own) });
        const during = session.steps.find(({ end }) => end > at)?.what ?? 'the end';
        violations.push(
          ...wrong.map((one) => `cut at ${at} (seed ${own}), during ${during.slice(0, 80)}: ${one}`),
        );
        if (!sound) unsound += 1;
      }
      return { replays: cuts, unsound, violations };
    },
    [Symbol.asyncDispose]: () => shop[Symbol.asyncDispose](),
  };
}
