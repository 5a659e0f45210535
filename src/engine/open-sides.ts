import type { Attempt } from '#contract/attempt.ts';
import { isForgeError } from '#kernel/errors.ts';
import { beginAttempt, fillWorkspace, openControl, reopenWorkspace } from './attempt-workspace.ts';
import type { Side, SideHands, SideWishes } from './sides.ts';
import type { Assignment, ManagedAgent, WorkPlace } from './work.ts';

/**
 * The unfinished attempts at a task, with new ones up to the number that is wanted. Those that somebody worked on stay
 * theirs, unless the task was given to somebody who is none of them. One whose set-up fails is left out; throws its
 * trouble where no other is left.
 */
export async function openSides(
  { place, overrides }: SideHands,
  { task, agent, role }: Assignment,
  wishes: SideWishes | undefined,
): Promise<Side[]> {
  const control = await openControl(place);
  const pick = wishes?.pick;
  const known = await place.store.listAttempts({ task_id: task.id, state: 'active' });
  const workers = await readWorkers(place, task.id, role);
  const names = wishes === undefined || wishes.agents.length === 0 ? [agent] : wishes.agents;
  const isTheirs = wishes !== undefined || [...workers.values()].includes(agent);
  const findAgent = (at: number, attempt?: Attempt): ManagedAgent => {
    const own = isTheirs ? workers.get(attempt?.id ?? '') : undefined;
    const found = getAgent(place, own, getAgent(place, names[at % names.length], getAgent(place, agent)));
    return { ...found, profile: { ...found.profile, ...overrides } };
  };
  const opening = known.map(async (attempt, at): Promise<Side> => {
    const found = findAgent(at, attempt);
    const opened = await reopenWorkspace(place, control, { attempt, agent: found.name, pick });
    // A new one tells of itself when its folder is made.
    place.watch({ kind: 'attempt', attempt: opened.attempt });
    return { attempt: opened.attempt, agent: found };
  });
  // Their folders are made at the same time; their numbers follow the order of the agents.
  let begun: Promise<unknown> = Promise.resolve();
  for (let at = known.length; at < (wishes?.count ?? 1); at += 1) {
    const found = findAgent(at);
    const row = begun.then(() => beginAttempt(place, control, { task, agent: found.name, pick }));
    begun = row.catch(() => undefined);
    opening.push(
      row.then(async (attempt) => {
        await fillWorkspace(place, control, { task, attempt });
        return { attempt, agent: found };
      }),
    );
  }
  const all = await Promise.allSettled(opening);
  const faults = all.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
  const sides = all.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const grave = sides.length === 0 ? faults : faults.filter((fault) => !isForgeError(fault));
  if (grave.length > 0) throw grave[0];
  for (const fault of faults.filter(isForgeError))
    place.watch({ kind: 'note', task_id: task.id, text: fault.message });
  return sides;
}

/** Who worked on each attempt last, in this role. */
async function readWorkers(place: WorkPlace, task_id: string, role: string): Promise<Map<string, string>> {
  const runs = (await place.store.listRuns({ task_id })).filter((run) => run.role === role);
  return new Map(runs.map(({ attempt_id, agent }) => [attempt_id, agent]));
}

function getAgent(place: WorkPlace, name: string | undefined, fallback?: ManagedAgent): ManagedAgent {
  const found = name === undefined ? undefined : place.agents.find(name);
  if (found !== undefined) return found;
  if (fallback === undefined) throw new Error(`${name} was an agent a moment ago`);
  return fallback;
}
