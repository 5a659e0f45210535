import type { Run } from '#contract/attempt.ts';
import type { SuspendedAgent } from '#contract/suspension.ts';
import { findSuspension, FAULT_RULES } from '#domain/decide-suspension.ts';
import { toIso } from '#kernel/clock.ts';
import { isForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { AttemptStore } from '#store/attempt-store.ts';
import { openTaskReader } from '#store/open-task-reader.ts';
import type { StoreLocation } from '#store/store-location.ts';
import { listAgents, type AgentIdentity } from '#sync/agent-identities.ts';
import { listPlaces, type Around } from './list-places.ts';

/** The agents of this machine that are suspended in one project. */
export async function listSuspended(
  store: Pick<AttemptStore, 'listRuns'>,
  { home, now }: { readonly home: string; readonly now: number },
): Promise<SuspendedAgent[]> {
  const agents = listAgents(home);
  return agents.length === 0 ? [] : findAll(agents, await store.listRuns({ since: beginning(now) }), now);
}

/** The same in all projects of this machine, by agent: of several suspensions the one that lasts longest. */
export function mapSuspended(around: Around & { readonly now: number }): Map<string, SuspendedAgent> {
  const { place, now } = around;
  const agents = listAgents(place.home);
  const known = new Map<string, SuspendedAgent>();
  if (agents.length === 0) return known;
  for (const { paths } of listPlaces(around))
    for (const one of findAll(agents, readRuns(paths.store, now), now))
      if ((known.get(one.agent)?.until ?? '') < one.until) known.set(one.agent, one);
  return known;
}

function findAll(agents: readonly AgentIdentity[], runs: readonly Run[], now: number): SuspendedAgent[] {
  return agents.flatMap(({ name, resumed_at, created_at }) => {
    const found = findSuspension(runs, { name, resumed_at: resumed_at ?? created_at }, FAULT_RULES);
    // What a person has to mend stands until it is known to be mended: no process may be there to try it.
    if (found === undefined || (found.until <= now && found.mends === 'by_itself')) return [];
    return [{ ...found, until: toIso(found.until), command: `forge agent resume ${name}` }];
  });
}

function beginning(now: number): string {
  return toIso(now - LIMITS.budget_window_ms);
}

/** A project that cannot be read says nothing. */
function readRuns(store: StoreLocation, now: number): Run[] {
  try {
    using reader = openTaskReader(store);
    return reader.listRuns({ since: beginning(now) });
  } catch (error) {
    if (!isForgeError(error)) throw error;
    return [];
  }
}
