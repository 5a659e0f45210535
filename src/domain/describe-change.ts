import type { Task } from '#contract/task.ts';
import { LIMITS } from '#kernel/limits.ts';
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

/** Whether a change is one of status too: it is told under that name besides its finer one. */
export function changesStatus(type: string, before: TaskRecord | undefined, after: TaskRecord): boolean {
  if (before === undefined || type === 'task.status_changed') return false;
  return before.life.state !== after.life.state || before.life.status !== after.life.status;
}

/**
 * The row that an event carries: long fields that did not change are left out, and of long metadata the keys that did
 * not, so that a large task is not copied with every small change of it. `left_out` names them.
 */
export function toEventRow(
  task: Task,
  { changed, before, after }: { changed: readonly string[]; before: TaskRecord; after: TaskRecord },
): { readonly task: Partial<Task>; readonly left_out?: readonly string[] } {
  const long = Object.entries(task)
    .filter(([, value]) => isLong(value))
    .map(([name]) => name);
  const left_out = long.filter((name) => name === 'metadata' || !changed.includes(name));
  if (left_out.length === 0) return { task };
  const rest = Object.fromEntries(Object.entries(task).filter(([name]) => !left_out.includes(name)));
  if (!left_out.includes('metadata') || !changed.includes('metadata')) return { task: rest, left_out };
  const keys = listChangedKeys(before.metadata, after.metadata);
  const metadata = Object.fromEntries(Object.entries(task.metadata).filter(([key]) => keys.has(key)));
  return { task: { ...rest, metadata }, left_out };
}

/** What an empty list or object is as text is known. */
function isEmpty(value: object): boolean {
  for (const _ in value) return false;
  return true;
}

function isLong(value: unknown): boolean {
  if (typeof value === 'string') return value.length > LIMITS.event_field_length;
  return (
    typeof value === 'object' &&
    value !== null &&
    !isEmpty(value) &&
    JSON.stringify(value).length > LIMITS.event_field_length
  );
}

function listChangedKeys({ elements: a }: ElementMap, { elements: b }: ElementMap): Set<string> {
  const keys = [...new Set([...a.keys(), ...b.keys()])];
  return new Set(keys.filter((key) => !sameElement(a.get(key)?.value, b.get(key)?.value)));
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
