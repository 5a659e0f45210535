import type { Comment, Status, TaskType } from '#contract/task.ts';
import { parseIso, toIso } from '#kernel/clock.ts';
import { ForgeError } from '#kernel/errors.ts';
import { canonicalJson, type Json, type JsonObject } from '#kernel/json.ts';
import { LIMITS } from '#kernel/limits.ts';
import { readJson } from '#kernel/read-json.ts';
import { compareText } from '#kernel/text.ts';
import { seal, sealWithDigest } from './record-seal.ts';
import { decodeStamps, encodeStamps, type Stamps } from './record-stamps.ts';
import { defaultState } from './states.ts';
import {
  dependencyKey,
  FIELD_DEFAULTS,
  FIELD_NAMES,
  fieldValue,
  lastStamp,
  splitDependencyKey,
  type Element,
  type ElementMap,
  type Life,
  type MapName,
  type Register,
  type StoredComment,
  type TaskRecord,
} from './task-record.ts';

const STATUSES = ['open', 'in_progress', 'closed'] satisfies Status[];
const TASK_TYPES = ['task', 'bug', 'feature', 'epic', 'message'] satisfies TaskType[];
const DEPENDENCY_TYPES = ['blocks', 'related', 'discovered-from'];

/** Keys with a place of their own; everything else in a line is an unknown key and kept as it is. */
export const KNOWN_KEYS: ReadonlySet<string> = new Set([
  'id',
  ...FIELD_NAMES,
  'status',
  'state',
  'close_reason',
  'assignee',
  'dependencies',
  'labels',
  'created_at',
  'created_by',
  'updated_at',
  'closed_at',
  'metadata',
  'comments',
  'conflicts',
  '_v',
]);

/** What a store writes into its own replica alone. A copy of that file may be read as any other, and it goes no further. */
export const LOCAL_KEY = '_local';

/** One canonical line: fixed key order, same state gives the same bytes. Without the newline. */
export function encodeRecord(record: TaskRecord): string {
  return seal(encodeBody(record, toIso(lastStamp(record))), JSON.stringify(encodeStamps(record)));
}

/** The same with what a row needs besides; the seal nearly gives the digest away. */
export function encodeForRow(record: TaskRecord): {
  line: string;
  digest: number;
  updated_at: string;
  /** The line's `_v` without the seal. */
  stamps: string;
} {
  const updated_at = toIso(lastStamp(record));
  const stamps = JSON.stringify(encodeStamps(record));
  return { ...sealWithDigest(encodeBody(record, updated_at), stamps), updated_at, stamps };
}

/**
 * All of a line but its stamps and its end. One call of JSON.stringify for all that has a fixed place: a call a key
 * takes three to four times as long.
 */
function encodeBody(record: TaskRecord, updated_at: string): string {
  const { life } = record;
  const fixed = {
    id: record.id,
    title: fieldValue(record, 'title'),
    description: fieldValue(record, 'description'),
    status: life.status,
    state: life.state === defaultState(life.status, life.close_reason) ? undefined : life.state,
    close_reason: life.close_reason ?? undefined,
    priority: fieldValue(record, 'priority'),
    type: fieldValue(record, 'type'),
    assignee: life.assignee,
    parent_id: fieldValue(record, 'parent_id'),
    dependencies: listDependencyEntries(record),
    labels: listLabels(record),
    github_issue: fieldValue(record, 'github_issue'),
    created_at: record.created_at,
    created_by: record.created_by,
    updated_at,
    closed_at: life.closed_at,
  };
  let more = `,"metadata":${encodeMetadata(record)}`;
  if (record.comments.size > 0) more += `,"comments":${encodeComments(record)}`;
  if (hasConflicts(record)) more += `,"conflicts":${encodeElements(record.conflicts)}`;
  for (const key of unknownKeys(record)) {
    more += `,${JSON.stringify(key)}:${canonicalJson(fieldValue(record, key))}`;
  }
  return `${JSON.stringify(fixed).slice(0, -1)}${more}`;
}

/** Which task a line belongs to is said by these: every clone would make up others. */
const HOW_TO_WRITE: Readonly<Record<string, string>> = {
  id: '; write one, such as "id":"fg-a3f8"',
  created_at: '; write when the task was made, such as "created_at":"2026-02-10T09:00:00Z"',
  created_by: '; write who made the task, such as "created_by":"ann"',
};

/** A line's object into a record. Throws invalid_input for what is not a task. */
export function decodeRecord(json: Json): TaskRecord {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw new ForgeError('invalid_input', 'Not a task: it is not an object');
  }
  const line = json as JsonObject; // an object that is no list
  const text = (key: string): string => {
    const value = line[key];
    if (value === undefined) throw unreadable(line, `it has no "${key}"${HOW_TO_WRITE[key] ?? ''}`);
    if (typeof value !== 'string') throw unreadable(line, `"${key}" is not a text`);
    return value;
  };
  const id = text('id');
  checkId(line, id);
  const created_at = text('created_at');
  const created = time(line, created_at);
  const updated = (line.updated_at ?? null) === null ? created : time(line, text('updated_at'));
  const stamps = decodeStamps(line._v, { created, updated });
  return {
    id,
    created_at,
    created,
    created_by: text('created_by'),
    life: decodeLife(line, stamps),
    fields: decodeFields(line, stamps),
    labels: elements(stamps, 'labels', labelEntries(line)),
    dependencies: elements(stamps, 'dependencies', dependencyEntries(line)),
    metadata: elements(stamps, 'metadata', Object.entries(object(line, 'metadata'))),
    comments: decodeComments(line),
    conflicts: elements(stamps, 'conflicts', Object.entries(object(line, 'conflicts'))),
    ...(stamps.hand !== undefined && { hand: stamps.hand }),
  };
}

export function listDependencies(record: TaskRecord): { id: string; type: string }[] {
  return presentKeys(record.dependencies)
    .map(splitDependencyKey)
    .sort((a, b) => compareText(a.id, b.id) || compareText(a.type, b.type));
}

/** As the line has them: with the keys of an edge that this version does not know. */
function listDependencyEntries(record: TaskRecord): JsonObject[] {
  if (record.dependencies.elements.size === 0) return [];
  return listDependencies(record).map((edge) => {
    const value = record.dependencies.elements.get(dependencyKey(edge.id, edge.type))?.value;
    return isObject(value) ? { ...edge, ...value } : edge;
  });
}

export function listLabels(record: TaskRecord): string[] {
  return presentKeys(record.labels).sort(compareText);
}

export function listComments(record: TaskRecord): Comment[] {
  return [...record.comments.values()]
    .map(({ id, author, body, reply_to, created_at }) => ({ id, author, body, reply_to, created_at }))
    .sort((a, b) => compareText(a.created_at, b.created_at) || compareText(a.id, b.id));
}

export function encodeComments(record: TaskRecord): string {
  const extra = (id: string): JsonObject => sortKeys(record.comments.get(id)?.extra ?? {});
  return JSON.stringify(listComments(record).map((comment) => ({ ...comment, ...extra(comment.id) })));
}

export function encodeMetadata(record: TaskRecord): string {
  return encodeElements(record.metadata);
}

export function hasConflicts(record: TaskRecord): boolean {
  return record.conflicts.elements.size > 0 && presentKeys(record.conflicts).length > 0;
}

/** Built by hand, because an object would put keys that look like numbers first. */
export function encodeElements(map: ElementMap): string {
  const parts = presentKeys(map)
    .sort(compareText)
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(map.elements.get(key)?.value ?? null)}`);
  return `{${parts.join(',')}}`;
}

/** Also the emptied ones, as null: a key that vanished with its stamp would come back from any older copy. */
export function unknownKeys(record: TaskRecord): string[] {
  const keys: string[] = [];
  for (const key of record.fields.keys()) if (!KNOWN_KEYS.has(key)) keys.push(key);
  return keys.sort(compareText);
}

function presentKeys(map: ElementMap): string[] {
  const keys: string[] = [];
  for (const [key, element] of map.elements) if (element.value !== undefined) keys.push(key);
  return keys;
}

function decodeLife(line: JsonObject, stamps: Stamps): Life {
  const status = line.status as Status;
  if (!STATUSES.includes(status)) throw unreadable(line, '"status" is not open, in_progress or closed');
  const nullable = (key: string): string | null => {
    const value = line[key] ?? null;
    if (value !== null && typeof value !== 'string')
      throw unreadable(line, `"${key}" is neither text nor null`);
    return value;
  };
  // Only a closed task has a closing; somebody who reopens one in an editor leaves the rest of it behind.
  const reason = nullable('close_reason');
  const at = nullable('closed_at');
  const close_reason = status === 'closed' ? reason : null;
  return {
    status,
    state: nullable('state') ?? defaultState(status, close_reason),
    assignee: nullable('assignee'),
    close_reason,
    closed_at: status === 'closed' ? (at ?? toIso(stamps.life.written)) : null,
    ...stamps.life,
  };
}

function decodeFields(line: JsonObject, stamps: Stamps): Map<string, Register> {
  const fields = new Map<string, Register>();
  for (const name of FIELD_NAMES) {
    fields.set(name, { value: checkField(line, name), stamp: stamps.field(name) });
  }
  for (const key of Object.keys(line)) {
    if (!isTaken(key)) fields.set(key, { value: line[key] ?? null, stamp: stamps.field(key) });
  }
  // A key that somebody took out of the line by hand leaves its stamp, which must not be forgotten.
  for (const key of stamps.listedFields) {
    if (!fields.has(key) && !isTaken(key)) fields.set(key, { value: null, stamp: stamps.field(key) });
  }
  return fields;
}

function isTaken(key: string): boolean {
  return KNOWN_KEYS.has(key) || key === LOCAL_KEY;
}

function checkField(line: JsonObject, name: (typeof FIELD_NAMES)[number]): Json {
  const value = line[name] ?? FIELD_DEFAULTS[name];
  const expected = FIELD_DEFAULTS[name];
  if (name === 'github_issue' && (value === null || Number.isSafeInteger(value))) return value;
  if (name === 'parent_id' && typeof value === 'string') checkId(line, value);
  if (name === 'parent_id' && (value === null || typeof value === 'string')) return value;
  if (name === 'priority' && Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 4)
    return value;
  const allowed = name !== 'type' || (TASK_TYPES as readonly Json[]).includes(value);
  if (typeof expected === 'string' && typeof value === 'string' && allowed) return value;
  throw unreadable(line, `"${name}" holds ${JSON.stringify(value)}`);
}

/** No element is older than its map's floor: one that a line lists so is as old as the floor, or gone. */
function elements(stamps: Stamps, name: MapName, present: [string, Json][]): ElementMap {
  const { floor, listed } = stamps.map(name);
  const found = new Map<string, Element>();
  for (const [key, value] of present) {
    found.set(key, { value, stamp: Math.max(floor, Math.abs(listed.get(key) ?? floor)) });
  }
  // What the line shows is believed, also where its stamp says otherwise: somebody edited it by hand.
  for (const [key, stamp] of listed) {
    if (!found.has(key) && Math.abs(stamp) > floor) {
      found.set(key, { value: undefined, stamp: Math.abs(stamp) });
    }
  }
  return { floor, elements: found };
}

function labelEntries(line: JsonObject): [string, Json][] {
  const labels = line.labels ?? [];
  if (!Array.isArray(labels)) throw unreadable(line, '"labels" is not a list');
  return labels.map((label: Json) => {
    if (typeof label !== 'string') throw unreadable(line, '"labels" holds something that is not a text');
    return [label, true];
  });
}

function dependencyEntries(line: JsonObject): [string, Json][] {
  const list = line.dependencies ?? [];
  if (!Array.isArray(list)) throw unreadable(line, '"dependencies" is not a list');
  return list.map((entry: Json) => {
    const { id, type, ...extra } = (entry ?? {}) as { id?: Json; type?: Json };
    if (typeof id !== 'string' || typeof type !== 'string' || !DEPENDENCY_TYPES.includes(type)) {
      throw unreadable(line, '"dependencies" holds something that is not {id, type}');
    }
    checkId(line, id);
    return [dependencyKey(id, type), Object.keys(extra).length === 0 ? true : sortKeys(extra)];
  });
}

function decodeComments(line: JsonObject): Map<string, StoredComment> {
  const list = line.comments ?? [];
  if (!Array.isArray(list)) throw unreadable(line, '"comments" is not a list');
  const comments = new Map<string, StoredComment>();
  for (const entry of list as unknown[]) {
    const { id, author, body, created_at, reply_to, ...extra } = (entry ?? {}) as Partial<Comment>;
    if (
      typeof id !== 'string' ||
      typeof author !== 'string' ||
      typeof body !== 'string' ||
      typeof created_at !== 'string' ||
      (typeof reply_to !== 'string' && (reply_to ?? null) !== null)
    ) {
      throw unreadable(line, '"comments" holds something that is not a comment');
    }
    time(line, created_at);
    const comment = { id, author, body, reply_to: reply_to ?? null, created_at };
    const more = Object.keys(extra).length > 0 && { extra: sortKeys(extra as JsonObject) };
    comments.set(id, { ...comment, ...more });
  }
  return comments;
}

/** Ids are shown, typed and passed to shells everywhere; nothing else may pass for one. */
function checkId(line: JsonObject, id: string): void {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$/.test(id)) return;
  throw unreadable(line, `${JSON.stringify(id)} is not an id`);
}

function object(line: JsonObject, key: string): JsonObject {
  const value = line[key] ?? {};
  if (!isObject(value)) throw unreadable(line, `"${key}" is not an object`);
  return value;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The same at every level in one order, so that equal values are written alike. */
function sortKeys(value: JsonObject): JsonObject {
  return readJson(canonicalJson(value)) as JsonObject;
}

function time(line: JsonObject, iso: string): number {
  const ms = parseIso(iso);
  if (ms === undefined || ms >= LIMITS.stamp_max_ms)
    throw unreadable(line, `${JSON.stringify(iso)} is not a time`);
  return Math.max(ms, 0); // before 1970 there are no stamps
}

function unreadable(line: JsonObject, why: string): ForgeError {
  return new ForgeError('invalid_input', `Not a task: ${why}`, { details: { id: line.id ?? null } });
}
