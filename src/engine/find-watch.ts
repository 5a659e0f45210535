import { isSameProcess } from '#process/process-identity.ts';
import type { WatchedTask } from '#store/attempt-store.ts';
import { isThere } from './is-there.ts';
import type { WorkPlace } from './work.ts';

/** The process that is at work on a task, or was when it was killed; undefined where there is none. */
export async function findWatch(
  { store, watcher }: Pick<WorkPlace, 'store' | 'watcher'>,
  taskId: string,
): Promise<(WatchedTask & { readonly is_others: boolean }) | undefined> {
  const watch = (await store.listWatchedTasks()).find(({ task_id }) => task_id === taskId);
  if (watch === undefined) return undefined;
  // Another process that is alive.
  return {
    ...watch,
    is_others: !isSameProcess(watch.watcher, watcher) && (await isThere(store, watch.watcher)),
  };
}
