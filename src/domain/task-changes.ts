import type { Comment, Status } from '#contract/task.ts';
import { toIso } from '#kernel/clock.ts';
import { ForgeError } from '#kernel/errors.ts';
import type { Json } from '#kernel/json.ts';
import { LIMITS } from '#kernel/limits.ts';
import { noteReplaced } from './replaced-values.ts';
import { sameElement, sameJson } from './same-value.ts';
import { closedState, STATE_FOR_STATUS } from './states.ts';
import {
  FIELD_DEFAULTS,
  FIELD_NAMES,
  fieldValue,
  MAP_NAMES,
  type Element,
  type ElementMap,
  type FieldName,
  type Life,
  type Register,
  type TaskRecord,
} from './task-record.ts';

/**
 * Every local operation on a record, pure. Each is an inflation: joining the record before it with the record
 * after it gives the record after it, because a stamp is always later than the one it overwrites.
 * A call that changes nothing returns the very same record.
 */
export interface NewTask {
  readonly id: string;
  readonly created_by: string;
  readonly fields: Partial<Readonly<Record<FieldName, Json>>>;
  readonly assignee: string | null;
  readonly state: string;
  readonly labels: readonly string[];
  readonly dependencies: readonly string[];
  readonly metadata: ReadonlyMap<string, Json>;
}

export function newRecord(task: NewTask, now: number): TaskRecord {
  const fields = new Map<string, Register>();
  for (const name of FIELD_NAMES)
    fields.set(name, { value: task.fields[name] ?? FIELD_DEFAULTS[name], stamp: now });
  const present = (entries: Iterable<readonly [string, Json]>): ElementMap => ({
    floor: now,
    elements: new Map([...entries].map(([key, value]) => [key, { value, stamp: now }])),
  });
  return {
    id: task.id,
    created_at: toIso(now),
    created: now,
    created_by: task.created_by,
    life: {
      status: 'open',
      state: task.state,
      assignee: task.assignee,
      close_reason: null,
      closed_at: null,
      n: 0,
      began: 0,
      written: now,
    },
    fields,
    labels: present(task.labels.map((label) => [label, true] as const)),
    dependencies: present(task.dependencies.map((key) => [key, true] as const)),
    metadata: present(task.metadata),
    comments: new Map(),
    conflicts: present([]),
  };
}

export interface ElementEdit {
  /** Undefined removes the element. */
  readonly value: Json | undefined;
}

export interface Edit {
  readonly fields?: ReadonlyMap<string, Json>;
  readonly labels?: ReadonlyMap<string, ElementEdit>;
  readonly dependencies?: ReadonlyMap<string, ElementEdit>;
  readonly metadata?: ReadonlyMap<string, ElementEdit>;
  readonly conflicts?: ReadonlyMap<string, ElementEdit>;
}

/** Everything but life and comments. One stamp for all that really changes. */
export function editRecord(record: TaskRecord, edit: Edit, now: number): TaskRecord {
  const fields = new Map(
    [...(edit.fields ?? [])].filter(([name, value]) => !sameJson(fieldValue(record, name), value)),
  );
  const labels = changedElements(record.labels, edit.labels);
  const dependencies = changedElements(record.dependencies, edit.dependencies);
  const metadata = changedElements(record.metadata, edit.metadata);
  const conflicts = changedElements(record.conflicts, edit.conflicts);
  if (fields.size + labels.size + dependencies.size + metadata.size + conflicts.size === 0) return record;
  const stamp = countable(
    record,
    Math.max(
      now,
      ...[...fields.keys()].map((name) => (record.fields.get(name)?.stamp ?? 0) + 1),
      overwritten(record.labels, labels) + 1,
      overwritten(record.dependencies, dependencies) + 1,
      overwritten(record.metadata, metadata) + 1,
      overwritten(record.conflicts, conflicts) + 1,
    ),
  );
  const edited = {
    ...record,
    fields: new Map([
      ...record.fields,
      ...[...fields].map(([name, value]) => [name, { value, stamp }] as const),
    ]),
    labels: withElements(record.labels, labels, stamp),
    dependencies: withElements(record.dependencies, dependencies, stamp),
    metadata: withElements(record.metadata, metadata, stamp),
    conflicts: withElements(record.conflicts, conflicts, stamp),
  };
  return noteReplaced(record, edited);
}

/** A new owner: claim of an open task, or takeover of one in work. */
export function claimRecord(
  record: TaskRecord,
  assignee: string,
  now: number,
  state: string = STATE_FOR_STATUS.in_progress,
): TaskRecord {
  return beginLife(
    record,
    {
      status: 'in_progress',
      state,
      assignee,
      close_reason: null,
      closed_at: null,
    },
    now,
  );
}

export function closeRecord(
  record: TaskRecord,
  reason: string,
  now: number,
  state = closedState(reason),
): TaskRecord {
  if (record.life.status === 'closed') return record;
  const at = lifeStamp(record, now);
  return beginLife(
    record,
    {
      status: 'closed',
      state,
      assignee: record.life.assignee,
      close_reason: reason,
      closed_at: toIso(at),
    },
    now,
  );
}

export function reopenRecord(
  record: TaskRecord,
  assignee: string | null,
  now: number,
  state: string = STATE_FOR_STATUS.open,
): TaskRecord {
  return beginLife(record, { status: 'open', state, assignee, close_reason: null, closed_at: null }, now);
}

/** A move that keeps the claim it belongs to: release, park, unpark, reserve. */
export function moveRecord(
  record: TaskRecord,
  to: { status: Status; state: string; assignee: string | null },
  now: number,
): TaskRecord {
  const { life } = record;
  if (life.status === to.status && life.state === to.state && life.assignee === to.assignee) return record;
  return { ...record, life: { ...life, ...to, written: lifeStamp(record, now) } };
}

/** Comments are a set by id: one that is there stays as it is. */
export function commentRecord(record: TaskRecord, comment: Comment): TaskRecord {
  if (record.comments.has(comment.id)) return record;
  return { ...record, comments: new Map([...record.comments, [comment.id, comment]]) };
}

/**
 * The task is deleted, and its content stays beneath: what a deletion took out of the record would be gone for every
 * copy that meets it, and a restore, which knows but its own copy, could not bring back what others had written. Later
 * than all that is known, so that what is written after it can be told.
 */
export function deleteRecord(record: TaskRecord, now: number): TaskRecord {
  const maps = MAP_NAMES.map((name) => record[name]);
  const stamp = countable(
    record,
    Math.max(
      now,
      ...[...record.fields.values()].map((field) => field.stamp + 1),
      ...maps.map((map) => lastOf(map) + 1),
    ),
  );
  const fields = new Map(record.fields).set('deleted_at', { value: toIso(stamp), stamp });
  return { ...record, fields };
}

/**
 * Takes back the deletion and nothing else. Deletions of earlier versions emptied the record: what they took, and nobody
 * wrote since, is written again as it is in `before`.
 */
export function restoreRecord(deleted: TaskRecord, before: TaskRecord, now: number): TaskRecord {
  const since = deleted.fields.get('deleted_at')?.stamp ?? 0;
  const elements = (name: 'labels' | 'dependencies' | 'metadata'): Map<string, ElementEdit> => {
    const { floor, elements: there } = deleted[name];
    const taken = floor === since ? [...before[name].elements] : [];
    return new Map(
      taken
        .filter(([key, { value }]) => value !== undefined && (there.get(key)?.stamp ?? 0) <= since)
        .map(([key, { value }]) => [key, { value }]),
    );
  };
  const fields = new Map<string, Json>();
  for (const [name, field] of before.fields) {
    if (isEmptied(deleted, name, since)) fields.set(name, field.value);
  }
  fields.set('deleted_at', null);
  return editRecord(
    deleted,
    {
      fields,
      labels: elements('labels'),
      dependencies: elements('dependencies'),
      metadata: elements('metadata'),
    },
    now,
  );
}

/** Whether the deletion took the record's content, as those of earlier versions did: no task has an empty title. */
export function hasContent(deleted: TaskRecord): boolean {
  const since = deleted.fields.get('deleted_at')?.stamp ?? 0;
  return !isEmptied(deleted, 'title', since);
}

function isEmptied(deleted: TaskRecord, name: string, since: number): boolean {
  const field = deleted.fields.get(name);
  const empty = Object.hasOwn(FIELD_DEFAULTS, name) ? FIELD_DEFAULTS[name as FieldName] : null;
  return field?.stamp === since && sameJson(field.value, empty);
}

function beginLife(
  record: TaskRecord,
  to: Pick<Life, 'status' | 'state' | 'assignee' | 'close_reason' | 'closed_at'>,
  now: number,
): TaskRecord {
  const { life } = record;
  const names = ['status', 'state', 'assignee', 'close_reason', 'closed_at'] as const;
  if (names.every((name) => life[name] === to[name])) return record;
  const at = lifeStamp(record, now);
  return { ...record, life: { ...to, n: life.n + 1, began: at, written: at } };
}

function lifeStamp(record: TaskRecord, now: number): number {
  return countable(record, Math.max(now, record.life.written + 1, record.life.began + 1));
}

/** What no line could hold is refused before it is written. */
function countable({ id }: TaskRecord, stamp: number): number {
  if (stamp < LIMITS.stamp_max_ms) return stamp;
  throw new ForgeError(
    'invalid_input',
    `${id} was changed at the last moment that can be counted, by its times`,
    {
      hint: 'Correct its "updated_at" in .forge/tasks.jsonl',
      details: { id },
    },
  );
}

function changedElements(
  map: ElementMap,
  edits: ReadonlyMap<string, ElementEdit> | undefined,
): Map<string, ElementEdit> {
  return new Map(
    [...(edits ?? [])].filter(([key, { value }]) => !sameElement(map.elements.get(key)?.value, value)),
  );
}

function overwritten(map: ElementMap, edits: ReadonlyMap<string, ElementEdit>): number {
  let last = -1;
  for (const key of edits.keys()) last = Math.max(last, map.elements.get(key)?.stamp ?? map.floor);
  return last;
}

/** A loop, because a call with 125,000 arguments overflows the stack and removed elements pile up. */
function lastOf(map: ElementMap): number {
  let last = map.floor;
  for (const element of map.elements.values()) last = Math.max(last, element.stamp);
  return last;
}

function withElements(map: ElementMap, edits: ReadonlyMap<string, ElementEdit>, stamp: number): ElementMap {
  if (edits.size === 0) return map;
  const elements = new Map<string, Element>(map.elements);
  for (const [key, { value }] of edits) elements.set(key, { value, stamp });
  return { ...map, elements };
}
