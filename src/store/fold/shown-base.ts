import { LINE_FIELDS } from '#domain/line-fields.ts';
import { decodeRecord, encodeRecord } from '#domain/record-codec.ts';
import { digestRecord } from '#domain/record-digests.ts';
import type { ShownState } from '#domain/take-in-edits.ts';
import { lastStamp, type TaskRecord } from '#domain/task-record.ts';
import { isForgeError } from '#kernel/errors.ts';
import type { Json, JsonObject } from '#kernel/json.ts';
import { readJson } from '#kernel/read-json.ts';
import type { FoldRows } from './fold-rows.ts';
import { foldedAt, missingMany, NEVER_SHOWN } from './shown-facts.ts';

/**
 * What a file showed of a task when it was last looked at or written: a line of it that was not the store's own, else the
 * task as it stood at that event; of a task that the file lacked then, what it showed before that. Undefined where neither is known any more.
 */
export function readShownState(fold: LookedAt, known: TaskRecord): ShownState | undefined {
  const { rows, path } = fold;
  const mark = rows.readMark(path);
  if (mark === undefined) return undefined;
  if (mark.event_seq === null) {
    const [shown, ...more] = rows.listShown(path, known.id);
    if (more.length > 0 || shown?.seal === NEVER_SHOWN) return undefined;
    if (shown === undefined && rows.findFact(missingMany(path)) === 1) return undefined;
    if (shown !== undefined) return { digests: shown.digests, updated: updatedOf(shown.seal) };
  }
  const seq = mark.event_seq ?? rows.findFact(foldedAt(path));
  return seq === undefined ? undefined : readStateAt(fold, known, seq);
}

/** A fold of the file at `path`. */
export interface LookedAt {
  readonly rows: FoldRows;
  readonly path: string;
  /** Events of changes of very many tasks that have none of their own; read once. */
  many?: readonly number[];
}

/** The digests of all states of the task that the feed remembers. */
export function readPast(rows: FoldRows, known: TaskRecord): string[] {
  return listStates(rows, known).flatMap(({ record }) =>
    record === undefined ? [] : [digestRecord(record)],
  );
}

/** The name of a line without a seal: its `updated_at`. */
export function nameUnsealed(updated: number): string {
  return `~${Math.max(0, updated).toString(36)}`;
}

/** Of a line with a seal it is not known; then none counts as newer. */
function updatedOf(seal: string): number {
  return seal.startsWith('~') ? Number.parseInt(seal.slice(1), 36) : Number.POSITIVE_INFINITY;
}

function readStateAt(fold: LookedAt, known: TaskRecord, seq: number): ShownState | undefined {
  const { rows } = fold;
  const isSame = rows.newestEventOf(known.id) <= seq;
  // Without an event of its own it may have changed all the same.
  if (isSame && (seq + 1 < rows.oldestEvent() || wasManyChanged(fold, seq, Infinity))) return undefined;
  const states = isSame ? [] : listStates(rows, known);
  // What a key of others held before it was changed is in no event.
  if (states.some((state) => state.seq > seq && state.has_foreign)) return undefined;
  const last = states.findLast((state) => state.seq <= seq);
  if (last !== undefined && wasManyChanged(fold, last.seq, seq)) return undefined;
  const record = isSame ? known : last?.record;
  return record === undefined ? undefined : { digests: digestRecord(record), updated: lastStamp(record) };
}

/** Whether so many tasks changed at once, after one event and up to another, that they have no events of their own. */
function wasManyChanged(fold: LookedAt, after: number, upto: number): boolean {
  fold.many ??= fold.rows.listManyChanged();
  return fold.many.some((seq) => seq > after && seq <= upto);
}

interface PastState {
  readonly seq: number;
  /** A key of others was changed. */
  readonly has_foreign: boolean;
  /** Undefined where events do not tell all of it. */
  readonly record: TaskRecord | undefined;
}

/** Each after one event. Long values that did not change are left out of events, so that they come from one before. */
function listStates(rows: FoldRows, known: TaskRecord): PastState[] {
  const line = readJson(encodeRecord(known)) as JsonObject; // it was just written
  const states: PastState[] = [];
  let task: JsonObject = {};
  for (const { seq, data } of rows.listTaskEvents(known.id)) {
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

const TOLD = [...LINE_FIELDS, 'dependencies', 'labels', 'metadata'];

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
