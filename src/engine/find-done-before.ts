import type { Attempt } from '#contract/attempt.ts';
import type { Task } from '#contract/task.ts';
import { findLandedCommit } from '#git/landed-work.ts';
import type { WorkPlace } from './work.ts';

/**
 * Why a run that changed nothing may be right about that: the work is in the target already. Undefined where nothing
 * speaks for it. What is found goes to the gates like any other work, so that nobody's word is enough.
 */
export async function findDoneBefore(
  place: WorkPlace,
  { task, attempt }: { readonly task: Task; readonly attempt: Attempt },
): Promise<string | undefined> {
  const subtasks = await place.store.listTasks({ parent_id: task.id, include_archived: true });
  const { closed } = place.workflow();
  if (subtasks.every(({ status }) => status === 'closed') && subtasks.some(({ state }) => state === closed))
    return `Nothing was left to change: ${subtasks.length === 1 ? 'its subtask is' : 'its subtasks are'} closed`;
  const commit = await findCommit(place, { task, attempt });
  return commit === undefined
    ? undefined
    : `Nothing was left to change: ${attempt.target} has it already, in ${commit.slice(0, 12)}`;
}

/**
 * What an attempt at this task landed since its last reopening, as far as the store knows: one from before was not
 * enough, and what a commit says of itself is the word of its writer.
 */
async function findCommit(
  { repo, store }: WorkPlace,
  { task, attempt }: { readonly task: Task; readonly attempt: Attempt },
): Promise<string | undefined> {
  const reopened = (await store.findMove({ id: task.id, from_status: 'closed' }))?.created_at ?? '';
  const merges = await store.listMerges({ task_id: task.id });
  for (const { state, attempt_id, candidate, finished_at } of merges.toReversed()) {
    if (state !== 'landed' || candidate === null || (finished_at ?? '') <= reopened) continue;
    const landed = await findLandedCommit(repo, { attempt_id, candidate, tip: attempt.base_commit });
    if (landed !== undefined) return landed;
  }
  return undefined;
}
