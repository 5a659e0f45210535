import { listUnwatched } from '#engine/is-there.ts';
import type { Workshop } from '#engine/workshop.ts';
import type { OpenProject } from '#operations/operation.ts';
import type { OpenWork } from '#store/attempt-store.ts';

/**
 * Before a command answers: what a watcher left that is gone is ended, its rows are closed, and its tasks go where
 * they can be taken up; nothing is started. What is found is told, and so is what could not be settled: the command
 * answers all the same.
 */
export async function settleLeft(
  { store }: OpenProject,
  open: readonly OpenWork[],
  { workshop, notice }: { workshop: () => Promise<Workshop>; notice: (line: string) => void },
): Promise<void> {
  const lost = await listUnwatched(store, open);
  if (lost.length === 0) return;
  const { resumeTasks } = await import('#engine/resume-tasks.ts');
  let problem = '';
  // Of a start there is nothing but the task: it is told where the task has moved.
  const starts = lost.filter(({ kind }) => kind === 'start');
  const before = await Promise.all(starts.map(({ task_id }) => readState(store, task_id)));
  try {
    const shop = await workshop();
    await resumeTasks(shop, { only: new Set(), starts_nothing: true });
    await shop.settled();
    await leaveToOthers(shop, lost);
  } catch (error) {
    // Whatever it is: a place that cannot be written to, a folder of somebody else's. The command was about something else.
    problem = error instanceof Error ? error.message : String(error);
  }
  const after = await Promise.all(starts.map(({ task_id }) => readState(store, task_id)));
  const unmoved = new Set(starts.filter((_, at) => before[at] === after[at]));
  for (const one of lost) if (!unmoved.has(one)) notice(await describe(store, one, problem));
}

async function readState(store: OpenProject['store'], id: string): Promise<string | undefined> {
  return store.getTask(id).then(
    ({ state }) => state,
    () => undefined,
  );
}

/**
 * This process may stay for long and go on with none of it (`forge mcp`): the tasks are again those of the process that
 * is gone, so that the next that starts work takes them up at once.
 */
async function leaveToOthers({ place }: Workshop, lost: readonly OpenWork[]): Promise<void> {
  const { store, watcher: from, clock } = place;
  for (const { task_id, watcher } of lost) await store.takeWatch({ task_id, watcher, from }, clock.now());
}

/** `Run 7c1e40d2 of w1 on fg-a3f8 lost its watcher (process 4711 is gone): failed; fg-a3f8 is in todo`. */
async function describe(store: OpenProject['store'], one: OpenWork, problem: string): Promise<string> {
  const { kind, id, task_id, agent, watcher } = one;
  const what = kind === 'start' ? 'start' : `${kind} ${id.slice(0, 8)}`;
  const whose = agent === null ? '' : ` of ${agent}`;
  const head = `${what.charAt(0).toUpperCase()}${what.slice(1)}${whose} on ${task_id} lost its watcher (process ${watcher.pid} is gone)`;
  const isLeft = (await store.listOpenWork()).some((left) => left.id === id);
  if (isLeft)
    return `${head} and could not be settled${problem === '' ? '' : `: ${problem}`}; forge ${kind === 'start' ? `release ${id} --force` : `runs stop ${id.slice(0, 8)}`}`;
  const became = kind === 'run' ? `: ${(await store.getRun(id)).state}` : '';
  const task = await store.getTask(task_id).catch(() => undefined);
  return `${head}${became}${task === undefined ? '' : `; ${task.id} is in ${task.state}`}`;
}
