import { isForgeError } from '#kernel/errors.ts';
import type { Json, JsonObject } from '#kernel/json.ts';
import { readJson } from '#kernel/read-json.ts';
import { LINE_FIELDS } from './line-fields.ts';
import { decodeRecord, encodeRecord } from './record-codec.ts';
import type { TaskRecord } from './task-record.ts';

/** An event of a task. */
export interface TaskEvent {
  readonly seq: number;
  readonly data: {
    readonly task?: JsonObject;
    readonly changed?: readonly string[];
    readonly left_out?: readonly string[];
  };
}

/** A state that the task was in after an event. */
export interface PastState {
  readonly seq: number;
  /** A key of others was changed. */
  readonly has_foreign: boolean;
  /** Undefined where events do not tell all of it. */
  readonly record: TaskRecord | undefined;
}

/** What events tell of a task. */
const TOLD: readonly string[] = [...LINE_FIELDS, 'dependencies', 'labels', 'metadata'];

/** Each after one event, in their order. Long values that did not change are left out of events, so that they come from one before. */
export function listPastStates(known: TaskRecord, events: Iterable<TaskEvent>): PastState[] {
  const line = readJson(encodeRecord(known)) as JsonObject; // it was just written
  const states: PastState[] = [];
  let task: JsonObject = {};
  for (const { seq, data } of events) {
    if (data.task === undefined) continue;
    const { left_out = [] } = data;
    // Of long metadata only what changed is there, and not what was taken away.
    const { metadata, ...rest } = data.task;
    task = { ...task, ...rest, ...(!left_out.includes('metadata') && { metadata: metadata ?? {} }) };
    const isWhole = left_out.every((name) => name !== 'metadata' && task[name] !== undefined);
    states.push({
      seq,
      has_foreign: data.changed?.some((name) => known.fields.has(name) && !TOLD.includes(name)) === true,
      record: isWhole ? toRecord(line, task, known) : undefined,
    });
  }
  return states;
}

/** What events do not tell, keys of others among it, is as it is known. */
function toRecord(line: JsonObject, task: JsonObject, known: TaskRecord): TaskRecord | undefined {
  const { life } = known;
  const told = Object.fromEntries(TOLD.map((name) => [name, task[name] ?? null]));
  const isSameLife =
    told['status'] === life.status &&
    told['assignee'] === life.assignee &&
    told['closed_at'] === life.closed_at;
  // The feed tells the state in words of the workflow, which may not be those of the line.
  const state: Json = isSameLife ? life.state : (told['state'] ?? null);
  const { _v, ...plain } = line;
  try {
    return decodeRecord({ ...plain, ...told, state });
  } catch (error) {
    if (isForgeError(error)) return undefined;
    throw error;
  }
}
