import type { LifeDecision } from './decide-life.ts';
import { claimRecord, closeRecord, moveRecord, reopenRecord } from './task-changes.ts';
import type { TaskRecord } from './task-record.ts';
import { claimTarget, closingState, DEFAULT_RESOLVED, type ResolvedWorkflow } from './workflow.ts';
import { holdsRole } from './workflow-fields.ts';

/** A decision of `decideLife` carried out on the record; what decides nothing changes nothing. */
export function applyLife(
  record: TaskRecord,
  decision: LifeDecision,
  now: number,
  workflow: ResolvedWorkflow = DEFAULT_RESOLVED,
): TaskRecord {
  switch (decision.outcome) {
    case 'claim':
      return claimRecord(
        record,
        decision.assignee,
        now,
        claimTarget(workflow, record.life, (role) => holdsRole(record, role, decision.assignee)),
      );
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
    case 'lost':
    case 'refused':
      return record;
  }
}
