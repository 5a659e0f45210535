import { LIMITS } from '#kernel/limits.ts';
import { toSparseSettings } from './attempt-git-folder.ts';
import type { Checkout } from './checkout-record.ts';
import { checkCheckout } from './collect-tips.ts';
import { type ControlGit, getFromControl } from './control-directory.ts';
import { copyToStaging } from './stage-work-tree.ts';

/**
 * Makes the checkout's files those of a commit, for checks of exactly that: what is neither in it nor ignored is
 * removed. Its branch and what git says of it stay where they are. Whoever calls has harvested before, so that nothing
 * is lost, and shows the branch's own commit again afterwards.
 */
export async function showCommit(control: ControlGit, checkout: Checkout, commit: string): Promise<void> {
  checkCheckout(control, checkout);
  using staging = copyToStaging(control, checkout);
  const options = { index: staging.path, work_tree: checkout.path, timeout_ms: LIMITS.git_checkout_ms };
  const sparse = toSparseSettings(control, checkout);
  await getFromControl(control, [...sparse, 'read-tree', '--reset', '-u', commit], options);
  const copied = control.copied.flatMap((pattern) => ['-e', pattern]);
  await getFromControl(control, [...sparse, 'clean', '--quiet', '-f', '-d', ...copied], options);
}
