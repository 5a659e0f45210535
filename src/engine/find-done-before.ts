import type { Attempt } from '#contract/attempt.ts';
import type { Task } from '#contract/task.ts';
import { getFromGit } from '#git/ask-git.ts';
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

/** Every commit that an attempt brings to its target names its task. One from before a reopening was not enough. */
async function findCommit(
  { repo, store }: WorkPlace,
  { task, attempt }: { readonly task: Task; readonly attempt: Attempt },
): Promise<string | undefined> {
  const grep = ['--basic-regexp', `--grep=^Forge-Task: ${task.id}$`];
  const line = await getFromGit(repo, ['log', '-1', '--format=%H %ct', ...grep, attempt.base_commit, '--']);
  const [commit = '', seconds = '0'] = line.split(' ');
  if (commit === '') return undefined;
  const moves = await store.listTransitions({ id: task.id, limit: undefined });
  const reopened = moves.findLast(({ from_status }) => from_status === 'closed');
  const isLater = reopened === undefined || Number(seconds) * 1000 > Date.parse(reopened.created_at);
  return isLater ? commit : undefined;
}
