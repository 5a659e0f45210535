import { toBlockerFacts, toClaimFacts, toPauseFacts, type AskedClaim } from '#domain/claim-facts.ts';
import type { BlockerFacts, ClaimFacts, ClaimRefusal } from '#domain/decide-claim.ts';
import { toTask } from '#domain/to-task.ts';
import type { ClaimResult } from '../store.ts';
import { isLeaseOver } from './lease-rows.ts';
import { listBlockers } from './ready-queries.ts';
import type { StoredRecord } from './record-rows.ts';
import { readFact } from './store-facts.ts';
import type { WriteTransaction } from './write-transaction.ts';

/** Everything that a claim is decided by, as this transaction sees it. */
export function readClaimFacts(
  tx: WriteTransaction,
  before: StoredRecord,
  claim: AskedClaim,
  /** Where it was read before in this transaction. */
  pauses_agents: boolean = pausesAgents(tx),
): ClaimFacts {
  const { record, fence, open_blockers } = before;
  return toClaimFacts(record, claim, {
    asker: tx.by.actor,
    pauses_agents,
    blockers: () => (open_blockers > 0 ? readBlockers(tx, record.id) : []),
    is_lease_over: () => isLeaseOver(tx, { id: record.id, fence }),
  });
}

/** The part of it that is about no task. */
export function readPauseFacts(tx: WriteTransaction, claim: Omit<AskedClaim, 'way' | 'to'>) {
  return toPauseFacts(claim, { asker: tx.by.actor, pauses_agents: pausesAgents(tx) });
}

function pausesAgents({ db }: WriteTransaction): boolean {
  return readFact(db, 'paused_at') > 0;
}

/** The refusal with all that a person wants to know of it. */
export function toRefusal(
  { db }: WriteTransaction,
  { record, version }: StoredRecord,
  refusal: ClaimRefusal,
): Exclude<ClaimResult, { outcome: 'claimed' }> {
  const task = toTask(record, version, db.workflow);
  return refusal.outcome === 'blocked'
    ? { ...refusal, task, blockers: listBlockers(db, record.id) }
    : { ...refusal, task };
}

const STANDING = `SELECT state, assignee, iif(json_valid(extra), json_extract(extra, '$.submitted_by'), NULL) AS submitted_by
  FROM tasks WHERE id = ?`;

/** Only a claim of a task that waits reads them. There may be very many: of none its record is read. */
function readBlockers(tx: WriteTransaction, id: string): BlockerFacts[] {
  return listBlockers(tx.db, id).map((blocker) => {
    const row = tx.db.get(STANDING, blocker.id);
    return toBlockerFacts(row as Parameters<typeof toBlockerFacts>[0], tx.db.workflow); // its columns
  });
}
