import { join } from 'node:path';
import { LIMITS } from '#kernel/limits.ts';
import { toGitFolder, toSparseSettings } from './attempt-git-folder.ts';
import type { Checkout } from './checkout-record.ts';
import { checkCheckout } from './collect-tips.ts';
import { type ControlGit, getFromControl } from './control-directory.ts';
import { look } from './guard-place.ts';
import { mergeCommits } from './merge-commits.ts';
import { replaceFile } from './replace-file.ts';
import { openStagingIndex } from './stage-work-tree.ts';

/**
 * Puts the merge of the target into the checkout's files, with markers where the two do not agree, for the agent to
 * finish. What it leaves becomes the merge commit at the next harvest. The checkout was harvested before: its files are
 * those of `head`.
 */
export async function beginMerge(
  control: ControlGit,
  checkout: Checkout,
  { head, target }: { readonly head: string; readonly target: string },
): Promise<void> {
  checkCheckout(control, checkout);
  const { tree } = await mergeCommits(control, { ours: head, theirs: target }, undefined);
  using staging = await openStagingIndex(control, checkout, head);
  const options = { index: staging.path, work_tree: checkout.path, timeout_ms: LIMITS.git_checkout_ms };
  await getFromControl(
    control,
    [...toSparseSettings(control, checkout), 'read-tree', '--reset', '-u', tree],
    options,
  );
  replaceFile(join(toGitFolder(checkout), MERGE_HEAD), `${target}\n`);
}

/** Whether a merge was put into the checkout, or begun by its agent, and not harvested yet. */
export function hasBegunMerge(checkout: Checkout): boolean {
  return look(join(toGitFolder(checkout), MERGE_HEAD)) !== undefined;
}

const MERGE_HEAD = 'MERGE_HEAD';
