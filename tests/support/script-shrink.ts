import { runHistory, type HistoryOutcome, type ScriptMode } from './script-history.ts';
import { planSteps, type Step } from './script-steps.ts';

const FIRST_CUT = 8;

/** The same history with the steps left out that do not matter: what is left is short enough to be read. */
export async function shrinkSeed(seed: number, mode: ScriptMode, length: number): Promise<HistoryOutcome> {
  return shrink(planSteps(seed, length), (steps) => runHistory(steps, mode));
}

async function shrink(
  whole: readonly Step[],
  run: (steps: readonly Step[]) => Promise<HistoryOutcome>,
): Promise<HistoryOutcome> {
  let steps = whole;
  let outcome = await run(steps);
  if (!isWrong(outcome)) return outcome;
  for (let size = FIRST_CUT; size >= 1; size /= 2) {
    for (let at = 0; at < steps.length;) {
      const fewer = steps.filter((_, index) => index < at || index >= at + size);
      const tried = await run(fewer);
      if (isWrong(tried)) [steps, outcome] = [fewer, tried];
      else at += size;
    }
  }
  return outcome;
}

function isWrong({ lost, reverted }: HistoryOutcome): boolean {
  return lost.length + reverted.length > 0;
}
