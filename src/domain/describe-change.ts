import { sameElement } from './same-value.ts';
import { fieldValue, MAP_NAMES, type ElementMap, type TaskRecord } from './task-record.ts';

/** The name in the feed of what led from one record to the other. */
export function eventOf(before: TaskRecord, after: TaskRecord): string {
  if (before.life.status === after.life.status) {
    if (before.life.n !== after.life.n) return 'task.claimed';
    return before.life.state === after.life.state ? 'task.updated' : 'task.status_changed';
  }
  if (after.life.status === 'closed') return 'task.closed';
  if (after.life.status === 'in_progress') return 'task.claimed';
  return before.life.status === 'closed' ? 'task.reopened' : 'task.released';
}

/** The names of the Task's fields that differ. */
export function changedNames(before: TaskRecord, after: TaskRecord): string[] {
  const life = ['status', 'state', 'assignee', 'close_reason', 'closed_at'] as const;
  return [
    ...[...after.fields.keys()].filter((name) => fieldValue(before, name) !== fieldValue(after, name)),
    ...life.filter((name) => before.life[name] !== after.life[name]),
    ...MAP_NAMES.filter((name) => !holdsSame(before[name], after[name])),
  ];
}

/** Two that were read from different places are never the same object. */
function holdsSame({ elements: a }: ElementMap, { elements: b }: ElementMap): boolean {
  if (a === b) return true;
  const keys = new Set([...a.keys(), ...b.keys()]);
  return [...keys].every((key) => sameElement(a.get(key)?.value, b.get(key)?.value));
}

/** Each owner's time with a task has a number of its own; a write that carries an old one is refused. */
export function changesOwner(before: TaskRecord | undefined, after: TaskRecord): boolean {
  return (before?.life.assignee ?? null) !== after.life.assignee;
}
