import { LIMITS } from '#kernel/limits.ts';
import { followEvents } from '#store/follow-events.ts';
import type { ManagedAgent, WorkPlace } from './work.ts';

/**
 * Until one more run of the agent fits into what the project, the machine and the agent may do at once. The first run
 * of a task does not wait: whoever took the task has found a place for it. False where nobody waits any more.
 */
export async function waitForPlace(
  place: WorkPlace,
  { agent, task_id, signal }: { readonly agent: ManagedAgent; task_id: string; signal: AbortSignal },
): Promise<boolean> {
  const { store, settings } = place;
  if (signal.aborted) return false;
  const events = await followEvents(store);
  while (!signal.aborted) {
    const open = (await store.listOpenRuns()).map(({ run }) => run);
    if (!open.some((run) => run.task_id === task_id)) return true;
    const { max, per_machine, per_agent } = settings().scheduler;
    const elsewhere = (await place.runsElsewhere?.()) ?? 0;
    const own = open.filter((run) => run.agent === agent.name).length;
    if (open.length < max && open.length + elsewhere < per_machine && own < (agent.max ?? per_agent))
      return true;
    // Settings and the runs of other projects are no events of this one.
    await events.next({ signal, timeout_ms: LIMITS.dispatch_poll_ms });
  }
  return false;
}
