import type { Attempt } from '#contract/attempt.ts';
import type { ControlGit } from '#git/control-directory.ts';
import { listLeftMarkers } from '#git/left-markers.ts';
import type { WorkPlace } from './work.ts';

/**
 * The files in which lines of a conflict still stand: of the merge that Forge put into the files of the attempt, and of
 * those that the agent made. The first conflict counts: what the attempt was then had no markers of Forge's yet.
 */
export async function listMarked(
  { store }: WorkPlace,
  control: ControlGit,
  { attempt, head, target }: { readonly attempt: Attempt; readonly head: string; readonly target: string },
): Promise<readonly string[]> {
  const merges = await store.listMerges({ task_id: attempt.task_id });
  const own = merges.filter(({ attempt_id, conflicts }) => attempt_id === attempt.id && conflicts.length > 0);
  const paths = own.flatMap(({ conflicts }) => conflicts.map(({ path }) => path));
  const [first] = own;
  return listLeftMarkers(control, {
    base: attempt.base_commit,
    commit: head,
    target,
    conflict: first && { head: first.head_commit, paths },
  });
}
