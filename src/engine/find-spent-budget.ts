import type { Run } from '#contract/attempt.ts';
import { countsOthers, describeBudget, findReachedCap, sumRuns, type Caps } from '#domain/caps.ts';
import { toIso } from '#kernel/clock.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { AttemptStore } from '#store/attempt-store.ts';

/** The cap of 24 hours or of the project that is reached, in words and with the command that raises it. */
export async function findSpentBudget(
  store: Pick<AttemptStore, 'listRuns'>,
  {
    caps,
    now,
    runs,
  }: {
    readonly caps: Caps;
    readonly now: number;
    /** Those of the last 24 hours, where they were read already. */
    readonly runs?: readonly Run[] | undefined;
  },
): Promise<ReturnType<typeof describeBudget> | undefined> {
  const { night, project } = caps;
  const since = toIso(now - LIMITS.budget_window_ms);
  const lately = runs ?? (countsOthers(caps, 'night') ? await store.listRuns({ since }) : []);
  const all = countsOthers(caps, 'project') ? await store.listRuns({}) : [];
  const reached = findReachedCap(
    { run: {}, task: {}, night, project },
    { night: sumRuns(lately, now), project: sumRuns(all, now) },
  );
  return reached === undefined ? undefined : describeBudget(reached);
}
