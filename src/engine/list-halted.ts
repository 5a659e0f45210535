import type { Task } from '#contract/task.ts';
import { findStanding } from './find-standing.ts';
import { findWatch } from './find-watch.ts';
import { readHalted } from './read-wait.ts';
import type { WorkPlace } from './work.ts';

/**
 * Tasks whose work stands still although their agent is one that Forge starts here: the agent goes on with its attempt.
 * Few attempts are unfinished at a time. What another process is at work on is that one's.
 */
export async function listHalted(
  place: Pick<WorkPlace, 'store' | 'workflow' | 'agents' | 'watcher'>,
  isAtWork: (taskId: string) => boolean,
): Promise<Task[]> {
  const { store, agents } = place;
  const attempts = await store.listAttempts({ there: true, state: 'active' });
  const open = new Set((await store.listOpenWork()).map(({ task_id }) => task_id));
  const found: Task[] = [];
  for (const id of new Set(attempts.map(({ task_id }) => task_id))) {
    if (open.has(id) || isAtWork(id)) continue;
    const task = (await findStanding(store, id))?.task;
    const halted = task && (await readHalted({ store, workflow: place.workflow() }, task));
    if (task === undefined || halted === undefined || agents.find(halted.agent) === undefined) continue;
    if ((await findWatch(place, id))?.is_others !== true) found.push(task);
  }
  return found;
}
