import { join } from 'node:path';
import type { Attempt } from '#contract/attempt.ts';
import { startCheckout } from '#git/attempt-checkout.ts';
import type { Checkout } from '#git/checkout-record.ts';
import { removeCheckout } from '#git/rescue-checkout.ts';
import { isAlive, type ProcessIdentity } from '#process/process-identity.ts';
import { openControl } from './attempt-workspace.ts';
import type { WorkPlace } from './work.ts';

/**
 * A folder with the files of a commit and nothing else, for as long as the work takes. The attempt's own folder may hold
 * files that no commit has, and what a person is shown, and allows, is what the commit has.
 */
export async function lookAtCommit<T>(
  place: WorkPlace,
  { attempt, commit }: { readonly attempt: Pick<Attempt, 'id' | 'task_id'>; readonly commit: string },
  work: (folder: string) => Promise<T>,
): Promise<T> {
  const control = await openControl(place);
  const id = `look-${crypto.randomUUID()}`;
  const checkout = await startCheckout(control, {
    attempt_id: id,
    name: id,
    root: place.root,
    path: join(place.root, id),
    base: commit,
    facts: {
      project: place.project.root,
      task: attempt.task_id,
      attempt: attempt.id,
      looker: JSON.stringify(place.watcher),
    },
    is_throwaway: true,
  });
  try {
    return await work(checkout.path);
  } finally {
    await removeCheckout(control, checkout);
  }
}

/** Whether the process that looks is there: such a folder has no row that says that it is needed. */
export function isLookedAt({ facts }: Checkout): boolean {
  const { looker } = facts;
  // Written by the function above.
  return looker !== undefined && isAlive(JSON.parse(looker) as ProcessIdentity);
}
