import { isForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { Clock } from '#kernel/clock.ts';
import { openTaskReader } from '#store/open-task-reader.ts';
import { readStoreId } from '#store/store-identity.ts';
import type { StoreLocation } from '#store/store-location.ts';
import type { HomePlace } from '#sync/forge-home.ts';
import { findRegistered, listProjects } from '#sync/project-registry.ts';

/**
 * Runs at work in the other registered projects of this home, whichever process watches them. Asked with every look for
 * something to start, so it is counted anew only now and then; a project that cannot be read counts for nothing.
 */
export function createRunCounter(
  place: HomePlace,
  { own, clock }: { readonly own: StoreLocation; readonly clock: Clock },
): () => Promise<number> {
  let known = { count: 0, at: 0 };
  return async () => {
    const now = clock.now();
    if (now - known.at >= LIMITS.recover_ms) known = { count: countElsewhere(place, own), at: now };
    return known.count;
  };
}

function countElsewhere(place: HomePlace, own: StoreLocation): number {
  let count = 0;
  const ownId = readStoreId(own);
  for (const project of listProjects(place.home)) {
    try {
      const { paths } = findRegistered(project, place);
      if (readStoreId(paths.store) === ownId) continue;
      using reader = openTaskReader(paths.store);
      count += reader.countOpenRuns();
    } catch (error) {
      if (!isForgeError(error)) throw error;
    }
  }
  return count;
}
