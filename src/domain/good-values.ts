import { isForgeError } from '#kernel/errors.ts';
import { parseJson, type JsonObject } from '#kernel/json.ts';
import { editedLine } from './edited-line.ts';
import { isLineOf } from './kept-identity.ts';
import { decodeRecord, encodeRecord } from './record-codec.ts';
import { FIELD_NAMES, MAP_NAMES, type MapName, type TaskRecord } from './task-record.ts';
import type { EditedLine } from './take-in-edits.ts';

/** A line of a known task in which some values cannot be read: the others. */
export interface GoodValues {
  readonly record: TaskRecord;
  readonly edited: EditedLine;
  /** The keys of the values that cannot be read, which stay as they are known. */
  readonly bad: ReadonlySet<string>;
}

/** Undefined where it is not a line that Forge wrote for this task, or where what is wrong is no single value. */
export function readGoodValues(text: string, json: JsonObject, known: TaskRecord): GoodValues | undefined {
  const standing = parseJson(encodeRecord(known), 'The line') as JsonObject;
  const { id, _v } = json;
  const { created_at, created_by } = standing;
  const plain: JsonObject = { ...standing, id: id ?? null, _v: _v ?? null };
  if (!canRead(plain)) return undefined;
  const bad = new Set(Object.keys(json).filter((key) => !canRead({ ...plain, [key]: json[key] ?? null })));
  const standingValues = [...bad].map((key) => [key, standing[key] ?? null] as const);
  const repaired: JsonObject = {
    ...json,
    ...Object.fromEntries(standingValues),
    created_at: created_at ?? null,
    created_by: created_by ?? null,
  };
  if (bad.size === 0 || !canRead(repaired)) return undefined;
  const record = decodeRecord(repaired);
  const edited = editedLine(text, repaired, record);
  if (edited?.written === undefined) return undefined;
  const isOwn = json['created_at'] === created_at && json['created_by'] === created_by;
  return isOwn || isLineOf(known, edited, record) ? { record, edited, bad } : undefined;
}

/** The line's object with the known task's identity, and its status and owner, where the line says nothing of them. */
export function withKnownParts(json: JsonObject, known: TaskRecord): JsonObject {
  const { created_at, created_by, life } = known;
  const { status, state, assignee, close_reason, closed_at } = life;
  const standing = 'status' in json ? {} : { status, state, assignee, close_reason, closed_at };
  return { created_at, created_by, ...standing, ...json };
}

/** The record with these values as they are known: what stood in their place was no edit. */
export function keepKnown(record: TaskRecord, known: TaskRecord, bad: ReadonlySet<string>): TaskRecord {
  const fields = new Map(record.fields);
  for (const name of FIELD_NAMES) {
    const field = known.fields.get(name);
    if (bad.has(name) && field !== undefined) fields.set(name, field);
  }
  const maps = {} as Record<MapName, TaskRecord[MapName]>;
  for (const name of MAP_NAMES) maps[name] = (bad.has(name) ? known : record)[name];
  const comments = bad.has('comments') ? known.comments : record.comments;
  const life = LIFE.some((key) => bad.has(key)) ? known.life : record.life;
  return { ...record, life, fields, comments, ...maps };
}

const LIFE = ['status', 'state', 'assignee', 'close_reason', 'closed_at'];

function canRead(json: JsonObject): boolean {
  try {
    decodeRecord(json);
    return true;
  } catch (error) {
    if (isForgeError(error)) return false;
    throw error;
  }
}
