import type { KnownAgents } from '#domain/claimer.ts';
import { toClaimer } from '#domain/claimer.ts';
import type { BlockerFacts, ClaimFacts, ClaimRefusal, ClaimWay } from '#domain/decide-claim.ts';
import { toTask } from '#domain/to-task.ts';
import { kindOf } from '#domain/workflow.ts';
import { holderName, isArchived, roleHolder, submitterOf } from '#domain/workflow-fields.ts';
import type { ClaimResult } from '../store.ts';
import { isLeaseOver } from './lease-rows.ts';
import { listBlockers } from './ready-queries.ts';
import type { StoredRecord } from './record-rows.ts';
import { readFact } from './store-facts.ts';
import type { WriteTransaction } from './write-transaction.ts';

/** What a request says of a claim; everything else is read here. */
interface AskedClaim {
  readonly way: ClaimWay;
  readonly to?: string;
  readonly assignee: string;
  readonly agents: KnownAgents;
  readonly companions?: readonly string[] | undefined;
}

/** Everything that a claim is decided by, as this transaction sees it. */
export function readClaimFacts(tx: WriteTransaction, before: StoredRecord, claim: AskedClaim): ClaimFacts {
  const { record } = before;
  const { life } = record;
  const isOthers =
    life.status === 'in_progress' && life.assignee !== null && life.assignee !== claim.assignee;
  return {
    ...readPauseFacts(tx, claim),
    way: claim.way,
    to: claim.to,
    life,
    asker: tx.by.actor,
    archived: isArchived(record),
    holderOf(role) {
      const holder = roleHolder(record, role);
      return holder === undefined ? undefined : holderName(holder);
    },
    blockers: before.open_blockers > 0 ? readBlockers(tx, record.id) : [],
    lease_over: isOthers && isLeaseOver(tx, { id: record.id, fence: before.fence }),
  };
}

/** The part of it that is about no task. */
export function readPauseFacts(
  { db, by }: WriteTransaction,
  { assignee, agents, companions = [] }: Omit<AskedClaim, 'way' | 'to'>,
): Pick<ClaimFacts, 'claimer' | 'companions' | 'pauses_agents'> {
  return {
    claimer: toClaimer(assignee, agents, by.actor),
    companions: companions.map((name) => toClaimer(name, agents, by.actor)),
    pauses_agents: readFact(db, 'paused_at') > 0,
  };
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
    // It is another project's, or not here at all.
    if (row === undefined) return { in_gate: false, submitted_by: null };
    const { state, assignee, submitted_by } = row as {
      state: string;
      assignee: string | null;
      submitted_by: unknown;
    };
    return {
      in_gate: kindOf(tx.db.workflow, state) === 'gate',
      submitted_by: submitterOf({ submitted_by, assignee }),
    };
  });
}
