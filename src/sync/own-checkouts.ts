import { statSync } from 'node:fs';
import { join } from 'node:path';
import { startCheckout } from '#git/attempt-checkout.ts';
import { type Checkout, listRecords, toRecordFolder } from '#git/checkout-record.ts';
import type { ControlGit } from '#git/control-directory.ts';
import { removeCheckout, type Removed } from '#git/rescue-checkout.ts';
import { toIso } from '#kernel/clock.ts';
import { isForgeError } from '#kernel/errors.ts';

/** A checkout that somebody made for themselves: made like those of attempts, and of no task. */
export interface OwnCheckout {
  readonly checkout: Checkout;
  readonly created_at: string;
}

export interface OwnCheckoutRequest {
  readonly attempt_id: string;
  /** The first that nobody has is taken. */
  readonly names: readonly string[];
  readonly root: string;
  readonly base: string;
  readonly project: string;
  readonly sparse: boolean;
  readonly submodules: Checkout['submodules'];
}

/** Throws already_exists where every name is taken. */
export async function startOwnCheckout(control: ControlGit, request: OwnCheckoutRequest): Promise<Checkout> {
  const { names, project, ...rest } = request;
  for (const [at, name] of names.entries()) {
    try {
      return await startCheckout(control, {
        ...rest,
        name,
        path: join(request.root, name),
        facts: { project },
      });
    } catch (error) {
      const isTaken = isForgeError(error) && error.code === 'already_exists';
      if (!isTaken || at === names.length - 1) throw error;
    }
  }
  throw new RangeError('a checkout needs a name');
}

/** Those of attempts, of reviews and of merges know their task. */
export function listOwnCheckouts(control: ControlGit): OwnCheckout[] {
  return listRecords(control)
    .filter(({ facts }) => facts['task'] === undefined)
    .map((checkout) => ({
      checkout,
      created_at: toIso(
        statSync(join(toRecordFolder(control, checkout.attempt_id), 'checkout.json')).mtimeMs,
      ),
    }));
}

/** After a rescue of all that is in it. */
export function removeOwnCheckout(control: ControlGit, { checkout }: OwnCheckout): Promise<Removed> {
  return removeCheckout(control, checkout);
}
