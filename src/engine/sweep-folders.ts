import { dropAttemptRefs } from '#git/attempt-refs.ts';
import { listRecords, type Checkout } from '#git/checkout-record.ts';
import { removeCheckout } from '#git/rescue-checkout.ts';
import { isForgeError } from '#kernel/errors.ts';
import { openControl } from './attempt-workspace.ts';
import { sweepCaches } from './caches.ts';
import { isLookedAt } from './look-at-commit.ts';
import type { WorkPlace } from './work.ts';

/**
 * Folders of which no row says that they are needed: of checks and audits that were cut off, of attempts whose rows are
 * lost. What the latter hold goes to rescue refs before they go. Gives what was removed.
 */
export async function sweepFolders(place: WorkPlace): Promise<Checkout[]> {
  const { store } = place;
  // Rows are written before folders are made, so these come first.
  const attempts = await store.listAttempts({});
  if (attempts.length === 0) return [];
  const control = await openControl(place);
  const records = listRecords(control);
  const [reviews, merges, runs] = await Promise.all([
    store.listOpenReviews(),
    store.listOpenMerges(),
    store.listOpenRuns(),
  ]);
  const needed = new Set([
    ...(await store.listAttempts({})).map(({ id }) => id),
    // Their checks, and those who audit, have a folder by the name of the review or the merge.
    ...reviews.map(({ review }) => review.id),
    ...merges.map(({ merge }) => merge.id),
    // Whoever chooses between attempts has a folder by the name of the run.
    ...runs.map(({ run }) => run.id),
  ]);
  await sweepCaches(place, (id) => needed.has(id));
  const removed: Checkout[] = [];
  const isLeft = (checkout: Checkout): boolean => !needed.has(checkout.attempt_id) && !isLookedAt(checkout);
  for (const checkout of records.filter(isLeft)) {
    try {
      await removeCheckout(control, checkout);
      if (checkout.is_throwaway !== true)
        await dropAttemptRefs(control, { ...checkout, target: checkout.base });
      removed.push(checkout);
    } catch (error) {
      if (!isForgeError(error)) throw error;
      const task_id = checkout.facts['task'] ?? '';
      place.watch({ kind: 'note', task_id, text: error.message });
    }
  }
  return removed;
}
