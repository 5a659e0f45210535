import type { Comment, Status } from '#contract/task.ts';
import { parseIso } from '#kernel/clock.ts';
import type { Json, JsonObject } from '#kernel/json.ts';

/**
 * A task as every replica holds it: each value with the stamp (integer milliseconds) of the write that put
 * it there. Two copies can then be joined without losing a write.
 */
export interface TaskRecord {
  readonly id: string;
  /** ISO 8601; with id and created_by this is the task's identity, so it never changes. */
  readonly created_at: string;
  /** The same in milliseconds: every stamp of the record is compared with it, several times a write. */
  readonly created: number;
  readonly created_by: string;
  readonly life: Life;
  /** Title, description and the other single values, and keys this version does not know. */
  readonly fields: ReadonlyMap<string, Register>;
  readonly labels: ElementMap;
  /** Keys are `dependencyKey(…)`. */
  readonly dependencies: ElementMap;
  readonly metadata: ElementMap;
  readonly comments: ReadonlyMap<string, StoredComment>;
  /** What lost a merge, until somebody settles it. Keys are `conflictKey(…)`. */
  readonly conflicts: ElementMap;
  /** Edits by hand that were taken in, `seal:digests` of each edited line with the stamp it got; see take-in-edits.ts. */
  readonly hand?: ReadonlyMap<string, number> | undefined;
}

/** A comment, and the keys of it that this version does not know. */
export type StoredComment = Comment & { readonly extra?: JsonObject };

export interface Register {
  readonly value: Json;
  readonly stamp: number;
}

/**
 * Status, state, owner and closing are one fact, written by one operation; merged apart they would
 * contradict each other. `n` rises on claim, takeover, close and reopen; `began` is when that happened.
 */
export interface Life {
  readonly status: Status;
  readonly state: string;
  readonly assignee: string | null;
  readonly close_reason: string | null;
  readonly closed_at: string | null;
  readonly n: number;
  readonly began: number;
  readonly written: number;
}

/** The parts of a record that are maps of elements. */
export const MAP_NAMES = ['labels', 'dependencies', 'metadata', 'conflicts'] as const;
export type MapName = (typeof MAP_NAMES)[number];

export interface ElementMap {
  /** Whatever is not listed is absent as of this stamp. */
  readonly floor: number;
  readonly elements: ReadonlyMap<string, Element>;
}

export interface Element {
  readonly stamp: number;
  /** Undefined: removed. */
  readonly value: Json | undefined;
}

/** The single values that every task has, with what an empty task holds. */
export const FIELD_DEFAULTS = {
  title: '',
  description: '',
  priority: 2,
  type: 'task',
  parent_id: null,
  github_issue: null,
} as const satisfies Record<string, Json>;

export type FieldName = keyof typeof FIELD_DEFAULTS;
export const FIELD_NAMES = Object.keys(FIELD_DEFAULTS) as readonly FieldName[];

export function dependencyKey(id: string, type: string): string {
  return `${id}:${type}`;
}

/** A dependency key back into its parts; ids hold no colon. */
export function splitDependencyKey(key: string): { id: string; type: string } {
  const at = key.lastIndexOf(':');
  return { id: key.slice(0, at), type: key.slice(at + 1) };
}

/** The largest stamp of the record: its `updated_at`. */
export function lastStamp(record: TaskRecord): number {
  let last = Math.max(record.life.written, record.created);
  for (const field of record.fields.values()) last = Math.max(last, field.stamp);
  for (const name of MAP_NAMES) {
    const map = record[name];
    last = Math.max(last, map.floor);
    for (const element of map.elements.values()) last = Math.max(last, element.stamp);
  }
  for (const comment of record.comments.values()) last = Math.max(last, parseIso(comment.created_at) ?? 0);
  return last;
}

export function fieldValue(record: TaskRecord, name: string): Json {
  const field = record.fields.get(name);
  if (field !== undefined) return field.value;
  return Object.hasOwn(FIELD_DEFAULTS, name) ? FIELD_DEFAULTS[name as FieldName] : null;
}

/** A field that holds text; empty where it holds none. */
export function textValue(record: TaskRecord, name: string): string {
  const value = fieldValue(record, name);
  return typeof value === 'string' ? value : '';
}

export function isDeleted(record: TaskRecord): boolean {
  return fieldValue(record, 'deleted_at') !== null;
}
