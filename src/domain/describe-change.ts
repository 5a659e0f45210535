import { fieldValue, MAP_NAMES, type TaskRecord } from './task-record.ts';

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
    ...MAP_NAMES.filter((name) => before[name] !== after[name]),
  ];
}

/** Each owner's time with a task has a number of its own; a write that carries an old one is refused. */
export function changesOwner(before: TaskRecord | undefined, after: TaskRecord): boolean {
  return (before?.life.assignee ?? null) !== after.life.assignee;
}
