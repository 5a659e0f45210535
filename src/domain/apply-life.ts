import type { ClaimDecision } from './decide-claim.ts';
import type { LifeDecision } from './decide-life.ts';
import { claimRecord, closeRecord, moveRecord, reopenRecord } from './task-changes.ts';
import type { TaskRecord } from './task-record.ts';
import { closingState, DEFAULT_RESOLVED, type ResolvedWorkflow } from './workflow.ts';

/** A decision of `decideLife` that is no claim, or a claim that was decided; what decides nothing changes nothing. */
export type DecidedLife =
  | Exclude<LifeDecision, { outcome: 'claim' }>
  | (Extract<ClaimDecision, { outcome: 'claim' }> & { readonly assignee: string });

/** Carries a decision out on the record. */
export function applyLife(
  record: TaskRecord,
  decision: DecidedLife,
  now: number,
  workflow: ResolvedWorkflow = DEFAULT_RESOLVED,
): TaskRecord {
  switch (decision.outcome) {
    case 'claim':
      return claimRecord(record, decision.assignee, now, decision.state);
    case 'close': {
      const { life } = record;
      return closeRecord(
        moveRecord(record, { status: life.status, state: life.state, assignee: decision.assignee }, now),
        decision.reason,
        now,
        closingState(workflow, decision.reason),
      );
    }
    case 'reopen':
      return reopenRecord(record, decision.assignee, now, decision.state);
    case 'move':
      return moveRecord(record, decision.to, now);
    case 'keep':
    case 'kept_parked':
    case 'refused':
      return record;
  }
}
