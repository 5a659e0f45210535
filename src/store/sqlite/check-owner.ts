import { decideClaimEnd, type ClaimEndFacts } from '#domain/decide-claim-end.ts';
import type { Happening } from '#domain/task-plan.ts';
import type { StoredRecord } from './record-rows.ts';
import { toDeciding, toError } from './save-plan.ts';
import type { WriteTransaction } from './write-transaction.ts';

/**
 * The owner whose claim this write ends, where it is another's. Throws claim_conflict where an agent may not. Every
 * write of a task calls this, so that no way to end a claim has rules of its own.
 */
export function checkOwner(
  tx: Pick<WriteTransaction, 'db' | 'by'>,
  before: StoredRecord,
  {
    after,
    forced = false,
    claimed = false,
  }: Pick<ClaimEndFacts, 'after'> & Pick<Happening, 'forced' | 'claimed'>,
): string | undefined {
  const { actor, workflow } = toDeciding(tx);
  const decision = decideClaimEnd({ actor, before: before.record, after, forced, claimed }, workflow);
  if (decision.outcome === 'not_the_owner') throw toError(tx, before, decision);
  return decision.outcome === 'ends' ? decision.owner : undefined;
}
