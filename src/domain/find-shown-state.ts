import type { PastState } from './past-states.ts';
import { digestRecord } from './record-digests.ts';
import type { ShownState } from './taken-in.ts';
import { lastStamp, type TaskRecord } from './task-record.ts';

/** What the feed tells of a task, and of changes that it tells of many tasks at once. */
export interface FeedFacts {
  /** The event up to which the file was read or written. */
  readonly seq: number;
  /** The newest event of the task; 0 where there is none. */
  readonly newest: number;
  /** The first event that was not forgotten. */
  readonly oldest: () => number;
  /** Events of changes of very many tasks that have none of their own. */
  readonly listMany: () => readonly number[];
  readonly listStates: () => readonly PastState[];
}

/** The task as it stood at that event; undefined where that is not known any more. */
export function findShownState(known: TaskRecord, facts: FeedFacts): ShownState | undefined {
  const { seq, newest, oldest } = facts;
  const wasManyChanged = (after: number, upto: number): boolean =>
    facts.listMany().some((many) => many > after && many <= upto);
  const isSame = newest <= seq;
  // Without an event of its own it may have changed all the same.
  if (isSame) return seq + 1 < oldest() || wasManyChanged(seq, Infinity) ? undefined : toShown(known);
  const states = facts.listStates();
  // What a key of others held before it was changed is in no event.
  if (states.some((state) => state.seq > seq && state.has_foreign)) return undefined;
  const last = states.findLast((state) => state.seq <= seq);
  if (last?.record === undefined || wasManyChanged(last.seq, seq)) return undefined;
  return toShown(last.record);
}

function toShown(record: TaskRecord): ShownState {
  return { digests: digestRecord(record), updated: lastStamp(record) };
}

/** The name of a line without a seal: its `updated_at`. */
export function nameUnsealed(updated: number): string {
  return `~${Math.max(0, updated).toString(36)}`;
}

/** The `updated_at` of such a line; of a line with a seal it is not known, and then none counts as newer. */
export function updatedOf(seal: string): number {
  return seal.startsWith('~') ? Number.parseInt(seal.slice(1), 36) : Number.POSITIVE_INFINITY;
}
