import { FAULT_RULES, findSuspension, type Suspension } from '#domain/decide-suspension.ts';
import { toIso } from '#kernel/clock.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { WorkPlace } from './work.ts';

/**
 * Why an agent is not started now, with the next time to look; undefined where it may be. One whose suspension is over
 * is tried once before it is trusted with more.
 */
export async function readSuspension(
  place: Pick<WorkPlace, 'store' | 'clock' | 'agents' | 'mended' | 'faults'>,
  name: string,
): Promise<Suspension | undefined> {
  const { store, clock, mended, faults = FAULT_RULES } = place;
  const now = clock.now();
  const runs = await store.listRuns({ since: toIso(now - LIMITS.budget_window_ms) });
  const resumed_at = place.agents.find(name)?.resumed_at;
  const since = [resumed_at ?? '', mended.all].sort().at(-1);
  const found = findSuspension(runs, { name, resumed_at: since, mended_at: mended.by_person }, faults);
  if (found === undefined || found.until > now) return found;
  const isTried = runs.some(({ agent, ended_at }) => agent === name && ended_at === null);
  return isTried ? { ...found, until: now + LIMITS.dispatch_poll_ms } : undefined;
}
