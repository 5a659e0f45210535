import { isForgeError } from '#kernel/errors.ts';
import { kindOf, standingState } from '#domain/workflow.ts';
import { LIMITS } from '#kernel/limits.ts';
import { WATCH_LIMITS } from '#kernel/watch-limits.ts';
import { followEvents } from '#store/follow-events.ts';
import { listUnwatched } from './is-there.ts';
import type { WorkPlace } from './work.ts';

/**
 * Checks and merges of a task that has left their gate have ended before the change is answered. One whose process does
 * not answer, because it was stopped, is waited for no longer than a limit.
 */
export async function awaitGates(place: WorkPlace, taskId: string): Promise<void> {
  const events = await followEvents(place.store);
  for (const until = performance.now() + LIMITS.gate_end_ms; performance.now() < until;) {
    const open = (await place.store.listOpenWork()).filter(
      (one) => one.task_id === taskId && GATES.has(one.kind),
    );
    const gone = await listUnwatched(place.store, open);
    if (open.length === gone.length || (await standsInGate(place, taskId))) return;
    await events.next({ timeout_ms: WATCH_LIMITS.process_look_ms });
  }
}

const GATES: ReadonlySet<string> = new Set(['review', 'merge']);

async function standsInGate({ store, workflow }: WorkPlace, id: string): Promise<boolean> {
  try {
    const { task } = await store.readStanding(id);
    return task.archived_at === undefined && kindOf(workflow(), standingState(workflow(), task)) === 'gate';
  } catch (error) {
    if (!isForgeError(error) || error.code !== 'not_found') throw error;
    return false;
  }
}
