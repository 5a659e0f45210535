import { LIMITS } from '#kernel/limits.ts';
import { askGitBytes } from './ask-git.ts';
import { toSparseSettings } from './attempt-git-folder.ts';
import type { Checkout } from './checkout-record.ts';
import { checkCheckout } from './collect-tips.ts';
import { type ControlGit, getFromControl, toAskOptions, toControlFailure } from './control-directory.ts';
import { toShownPath } from './shown-path.ts';
import { copyToStaging, listDifferences, openStagingIndex } from './stage-work-tree.ts';

/** The tracked files of a checkout that are not as a commit has them, changed or gone. */
export async function listTouched(
  control: ControlGit,
  checkout: Checkout,
  commit: string,
): Promise<readonly string[]> {
  checkCheckout(control, checkout);
  using staging = await openStagingIndex(control, checkout, commit);
  const { tracked } = await listDifferences(control, { checkout, index: staging.path });
  return tracked.map(toShownPath);
}

/**
 * Makes the tracked files of a checkout those of a commit again. What is not tracked stays: a check may need what an
 * earlier one has built.
 */
export async function putBack(control: ControlGit, checkout: Checkout, commit: string): Promise<void> {
  checkCheckout(control, checkout);
  using staging = copyToStaging(control, checkout);
  const options = { index: staging.path, work_tree: checkout.path, timeout_ms: LIMITS.git_checkout_ms };
  const sparse = toSparseSettings(control, checkout);
  await getFromControl(control, [...sparse, 'read-tree', '--reset', '-u', commit], options);
}

/** Of everything in a checkout that a commit does not have, ignored or not: the topmost folders and files. */
export async function listUntracked(
  control: ControlGit,
  checkout: Checkout,
  commit: string,
): Promise<readonly string[]> {
  checkCheckout(control, checkout);
  using staging = await openStagingIndex(control, checkout, commit);
  const options = { index: staging.path, work_tree: checkout.path, timeout_ms: LIMITS.git_checkout_ms };
  const sparse = toSparseSettings(control, checkout);
  const args = ['ls-files', '-z', '--others', '--directory', '--no-empty-directory'];
  const { stdout, stderr, exit } = await askGitBytes(
    control,
    ['-C', checkout.path, ...sparse, ...args],
    toAskOptions(options, staging.path, checkout.path),
  );
  if (exit !== 0) throw toControlFailure(control, args, { stdout: '', stderr, exit });
  return stdout.toString('latin1').split('\0').slice(0, -1).map(toShownPath);
}
