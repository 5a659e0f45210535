import { mayBeAtWork } from '#domain/judge-daemon.ts';
import { isForgeError } from '#kernel/errors.ts';
import { judgeIdentity } from '#process/process-identity.ts';
import type { ProcessMark } from '#store/attempt-store.ts';
import { type DaemonStore, isDaemonMark } from '#store/daemon-store.ts';

type Store = Pick<DaemonStore, 'isDaemonOver'>;

/**
 * Whether the process that a row names may still be at work: as the system of this machine says, and where it cannot know,
 * as what the process last said to the store does.
 */
export async function isThere(store: Store, mark: ProcessMark): Promise<boolean> {
  const seen = judgeIdentity(mark);
  if (seen !== 'unknown' || !isDaemonMark(mark)) return mayBeAtWork(seen, undefined);
  return mayBeAtWork(seen, await store.isDaemonOver(mark).catch(ignoreForge));
}

/** Those whose watcher is gone. Where none is named, nothing can be known. */
export async function listUnwatched<T extends { readonly watcher: ProcessMark | null }>(
  store: Store,
  watched: readonly T[],
): Promise<T[]> {
  const there = await Promise.all(
    watched.map(async ({ watcher }) => watcher === null || (await isThere(store, watcher))),
  );
  return watched.filter((_, at) => there[at] === false);
}

/** What only keeps the store from answering says nothing about the process. */
function ignoreForge(error: unknown): undefined {
  if (!isForgeError(error)) throw error;
  return undefined;
}
