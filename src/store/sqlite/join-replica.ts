import { birthOf, isBirthName } from '#domain/identity.ts';
import { decodeStamps } from '#domain/record-stamps.ts';
import { lineDigest } from '#kernel/checksum.ts';
import { parseIso, toIso } from '#kernel/clock.ts';
import { isForgeError } from '#kernel/errors.ts';
import type { JsonObject } from '#kernel/json.ts';
import { LIMITS } from '#kernel/limits.ts';
import { readJson } from '#kernel/read-json.ts';
import { writeInBulk } from './bulk-writes.ts';
import type { Database } from './database.ts';
import { EdgeQueue } from './edge-queue.ts';
import { decodeLine, quickId } from '../fold/fold-lines.ts';
import { readDigests } from './fold-facts.ts';
import { decodeTransition } from '#domain/history-line.ts';
import { joinReplicaLines, joinReplicaRecord, REPLAYED_BY, type Replaying } from './join-replica-lines.ts';
import { insertEvent, insertTransition } from './log-rows.ts';
import { readPlainLine } from './plain-lines.ts';
import { INSERT_RECORD } from './record-rows.ts';
import { splitReplicaLine, WriteEnds, type SplitLine } from './replica-lines.ts';
import type { Replica } from './replica.ts';

export interface ReplayOptions {
  readonly now: number;
  readonly meter?: ReplayMeter | undefined;
}

/** Bytes that are done, of all; both 0 at the end. */
export type ReplayMeter = (done: number, total: number) => void;

/**
 * Joins what the replica holds from `from` on into the database; returns where the last whole write ends, and cuts what
 * stands behind it. The file is read twice, so that it need not fit into memory: of each task the last line counts, and
 * the first reading tells which that is.
 */
export function joinReplica(
  db: Database,
  replica: Replica,
  { from, now, meter }: ReplayOptions & { readonly from: number },
): number {
  let survey = surveyReplica(replica, from);
  if (survey.end !== replica.size()) {
    replica.truncate(survey.end);
    // Lines of the write that was cut may have counted as the last of their tasks.
    survey = surveyReplica(replica, from);
  }
  const { newest, end } = survey;
  const digests = newest.size > LIMITS.fold_events ? readDigests(db) : undefined;
  const bulk = digests !== undefined && newest.size - digests.size > LIMITS.fold_events;
  const replay: Replay = { db, replica, from, survey, digests, how: { now, bulk }, meter };
  const changed = bulk ? writeInBulk(db, () => replayLines(replay)) : replayLines(replay);
  if (bulk)
    insertEvent(db, {
      type: 'project.changed',
      task_id: null,
      triggered_by: REPLAYED_BY,
      created_at: toIso(now),
      data: { changed: ['tasks', 'history'], tasks: changed },
    });
  return end;
}

interface Replay {
  readonly db: Database;
  readonly replica: Replica;
  readonly from: number;
  readonly survey: Survey;
  /** Of the tasks that the database holds, where it is worth reading them all. */
  readonly digests: ReadonlyMap<string, number | null> | undefined;
  readonly how: Replaying;
  readonly meter: ReplayMeter | undefined;
}

interface Survey {
  /** Where the last line of each task ends. */
  readonly newest: Map<string, number>;
  /** Tasks whose last line does not tell all: deleted ones, those told apart from others, and lines written by others. */
  readonly whole: Set<string>;
  /** Where the last whole write ends. */
  end: number;
}

function surveyReplica(replica: Replica, from: number): Survey {
  const survey: Survey = { newest: new Map(), whole: new Set(), end: from };
  const { newest, whole } = survey;
  const writes = new WriteEnds();
  for (const { text, end } of replica.lines(from)) {
    const split = splitReplicaLine(text);
    if (writes.endsWith(split)) survey.end = end;
    const id = quickId(text);
    if (id === undefined) continue;
    newest.set(id, end);
    const birth = split === undefined ? undefined : findBirth(id, split.task);
    if (birth === id && !text.includes('"deleted_at"')) continue;
    whole.add(id);
    if (birth !== undefined) whole.add(birth);
  }
  return survey;
}

/** Undefined where the line does not tell. */
function findBirth(id: string, task: string): string | undefined {
  if (isBirthName(id)) return id;
  try {
    const { created_at, created_by } = readJson(task) as JsonObject; // it begins as one
    if (typeof created_at !== 'string' || typeof created_by !== 'string') return undefined;
    return birthOf({ id, created: Math.max(0, parseIso(created_at) ?? 0), created_by });
  } catch {
    return undefined;
  }
}

/** Returns how many tasks it changed. */
function replayLines(replay: Replay): number {
  const { db, replica, from, survey, digests, how, meter } = replay;
  const { newest, whole, end: total } = survey;
  const edges = new EdgeQueue(db);
  const others: string[] = [];
  const damaged = new Set<string>();
  let changed = 0;
  let count = 0;
  for (const { text, end } of replica.lines(from)) {
    count += 1;
    if (count % METER_LINES === 0) meter?.(end - from, total - from);
    const id = quickId(text);
    const line = id === undefined || whole.has(id) ? undefined : splitReplicaLine(text);
    if (id === undefined || line === undefined) {
      if (!saveTravellingMove(db, text, whole)) others.push(text);
      continue;
    }
    if (line.move !== undefined && !saveMove(db, id, line)) damaged.add(id);
    const known = digests?.get(id) ?? undefined;
    if (newest.get(id) !== end || (known !== undefined && known === lineDigest(line.task))) continue;
    const outcome = saveTask({ db, edges, how, is_new: digests?.has(id) === false }, id, line);
    if (outcome === 'damaged') damaged.add(id);
    if (outcome === 'changed') changed += 1;
  }
  edges.write();
  const again = damaged.size === 0 ? [] : linesOf(replay, damaged);
  changed += joinReplicaLines(db, [...again, ...others], how);
  meter?.(0, 0);
  return changed;
}

/** So many lines between two calls: each of them may draw. */
const METER_LINES = 1_000;

/** A move in a line of its own; false where it is none, or one of a task whose lines are read together. */
function saveTravellingMove(db: Database, text: string, whole: ReadonlySet<string>): boolean {
  if (!text.startsWith('{"task":')) return false;
  try {
    const move = decodeTransition(text);
    if (whole.has(move.task_id)) return false;
    insertTransition(db, move.task_id, move.at, move, null);
    return true;
  } catch (error) {
    if (isForgeError(error)) return false;
    throw error;
  }
}

/** The move that a line of a task carries; false where the line does not tell when it was made. */
function saveMove(db: Database, id: string, { task, move }: SplitLine): boolean {
  const at = findWritten(task);
  if (at === undefined || move === undefined) return false;
  insertTransition(db, id, at, move, null);
  return true;
}

/** When the life of the task was written last. */
export function findWritten(task: string): number | undefined {
  try {
    const { created_at, updated_at, _v } = readJson(task) as JsonObject; // it begins as one
    if (typeof created_at !== 'string' || typeof updated_at !== 'string') return undefined;
    const created = parseIso(created_at);
    const updated = parseIso(updated_at);
    if (created === undefined || updated === undefined || created < 0) return undefined;
    return decodeStamps(_v, { created, updated }).life.written;
  } catch {
    return undefined;
  }
}

function saveTask(
  { db, edges, how, is_new }: { db: Database; edges: EdgeQueue; how: Replaying; is_new: boolean },
  id: string,
  { task, numbers }: SplitLine,
): 'changed' | 'unchanged' | 'damaged' {
  const plain = how.bulk && is_new ? readPlainLine(task) : undefined;
  if (plain !== undefined) {
    const version = Math.max(numbers.version, 1);
    const fence = Math.max(numbers.fence, plain.assignee === null ? 0 : 1);
    db.run(INSERT_RECORD, plain.id, ...plain.values({ version, fence }, db.parkedStates));
    for (const edge of plain.edges) edges.add(plain.id, edge.id, edge.type);
    return 'changed';
  }
  const line = readTaskLine(task);
  if (line === undefined || line.record.id !== id) return 'damaged';
  const { record, encoded } = line;
  return joinReplicaRecord(db, { record, encoded, numbers, is_new }, how) ? 'changed' : 'unchanged';
}

function readTaskLine(text: string): ReturnType<typeof decodeLine> | undefined {
  try {
    return decodeLine({ text, number: 0 });
  } catch (error) {
    if (isForgeError(error)) return undefined;
    throw error;
  }
}

function linesOf({ replica, from }: Replay, ids: ReadonlySet<string>): string[] {
  const lines: string[] = [];
  for (const { text } of replica.lines(from)) if (ids.has(quickId(text) ?? '')) lines.push(text);
  return lines;
}
