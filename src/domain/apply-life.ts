import type { LifeDecision } from './decide-life.ts';
import { isParkedState } from './states.ts';
import { claimRecord, closeRecord, moveRecord, reopenRecord } from './task-changes.ts';
import type { TaskRecord } from './task-record.ts';

/** A decision of `decideLife` carried out on the record; what decides nothing changes nothing. */
export function applyLife(record: TaskRecord, decision: LifeDecision, now: number): TaskRecord {
  switch (decision.outcome) {
    case 'claim':
      return claimRecord(record, decision.assignee, now);
    case 'close': {
      const { life } = record;
      return closeRecord(
        moveRecord(record, { status: life.status, state: life.state, assignee: decision.assignee }, now),
        decision.reason,
        now,
      );
    }
    case 'reopen': {
      const open = reopenRecord(record, decision.assignee, now);
      return isParkedState(decision.state)
        ? moveRecord(open, { status: 'open', state: decision.state, assignee: decision.assignee }, now)
        : open;
    }
    case 'move':
      return moveRecord(record, decision.to, now);
    case 'keep':
    case 'lost':
    case 'refused':
      return record;
  }
}
