import { isAncestor } from '#git/read-commit.ts';
import { readRef } from '#git/read-ref.ts';
import { systemWriter, type WorkPlace } from './work.ts';

/** Whether the target has the commit. */
export async function isInTarget(
  { repo }: Pick<WorkPlace, 'repo'>,
  { commit, target }: { readonly commit: string; readonly target: string },
): Promise<boolean> {
  const tip = await readRef(repo, `refs/heads/${target}`);
  return tip !== undefined && (await isAncestor(repo, commit, tip));
}

/**
 * Attempts that were brought to their target outside of Forge, by hand or by a pull request, are merged. Only what an attempt
 * changed can be there: one without a commit of its own is left as it is.
 */
export async function noteLanded(place: WorkPlace, taskId: string): Promise<void> {
  const { store } = place;
  for (const { id, head_commit, base_commit, target } of await store.listAttempts({
    task_id: taskId,
    state: 'active',
  })) {
    const isOwn = head_commit !== null && head_commit !== base_commit;
    if (isOwn && (await isInTarget(place, { commit: head_commit, target })))
      await store.changeAttempt({ id, state: 'merged', merge_commit: head_commit }, systemWriter(place));
  }
}
