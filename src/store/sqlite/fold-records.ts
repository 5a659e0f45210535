import { writtenLine } from '#domain/edited-line.ts';
import { keepKnown, readGoodValues } from '#domain/good-values.ts';
import { listGateChanges } from '#domain/list-gate-changes.ts';
import { isSameTask } from '#domain/identity.ts';
import { keepIdentity } from '#domain/kept-identity.ts';
import { digestRecord } from '#domain/record-digests.ts';
import { takeInEdits, type TakenIn } from '#domain/take-in-edits.ts';
import { isDeleted, lastStamp, type TaskRecord } from '#domain/task-record.ts';
import { parseJson, type JsonObject } from '#kernel/json.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { Writer } from '../store.ts';
import type { FileLine, FoldReport } from '../sync-store.ts';
import { applyRecord, readKnown, type Known } from './apply-record.ts';
import type { Database } from './database.ts';
import type { EdgeQueue } from './edge-queue.ts';
import { decodeLine, quickId, whyUnreadable, type IncomingTask } from './fold-lines.ts';
import { toEncoded, type EncodedRecord } from './record-rows.ts';
import type { ReplicaAppender } from './replica-appender.ts';
import { readShown, writeShown } from './shown-lines.ts';

export const FOLDED_BY = 'system:fold';

/** One fold under way. */
export interface Fold {
  readonly db: Database;
  readonly appender: ReplicaAppender;
  readonly by: Writer;
  readonly report: FoldReport;
  readonly digests: Map<string, number | null>;
  readonly unreadable: string[];
  readonly path: string;
  readonly by_hand: ReadonlySet<string> | undefined;
  /** The edited lines of the file so far, as `id seal`. */
  readonly edited: Set<string>;
  /** Inside writeInBulk. */
  readonly bulk: boolean;
  /** Edges of plain lines, until all tasks are there: SQLite looks for waiting edges at every task while there are any. */
  readonly edges: EdgeQueue;
}

/** Undefined for a line that is no task. It is reported and kept, also where only some of its values cannot be read. */
export function readTask(fold: Fold, line: FileLine): IncomingTask | undefined {
  const { report, unreadable } = fold;
  try {
    return decodeLine(line);
  } catch (error) {
    report.unreadable.push({ number: line.number, why: whyUnreadable(error) });
    unreadable.push(line.text);
    return readGoodPart(fold, line);
  }
}

function readGoodPart({ db, digests, edges }: Fold, line: FileLine): IncomingTask | undefined {
  const id = quickId(line.text);
  if (id === undefined || !digests.has(id)) return undefined;
  edges.write();
  const known = readKnown(db, id);
  const json = tryParse(line.text);
  if (known === undefined || json === undefined) return undefined;
  const good = readGoodValues(line.text, json, known.record);
  return good === undefined ? undefined : { ...good, line, encoded: undefined };
}

function tryParse(text: string): JsonObject | undefined {
  try {
    return parseJson(text, 'The line') as JsonObject;
  } catch (error) {
    whyUnreadable(error);
    return undefined;
  }
}

/** The line as one of the known task, where it is, although its author or the time of its creation was edited. */
export function asKnown(
  { report }: Fold,
  incoming: IncomingTask,
  known: TaskRecord | undefined,
): IncomingTask {
  const { edited, json, line, record } = incoming;
  if (known === undefined || edited === undefined || json === undefined) return incoming;
  if (isSameTask(known, record)) return incoming;
  const kept = keepIdentity(line.text, json, { known, edited });
  if (kept === undefined) return incoming;
  (report.kept_identities ??= []).push(known.id);
  return { ...incoming, ...kept };
}

/** What the line says, with stamps of their own for edits by hand; `known` is the task as the store has it. */
export function readIncoming(fold: Fold, incoming: IncomingTask, known: TaskRecord | undefined): TakenIn {
  const taken = readEdits(fold, incoming, known);
  if (known === undefined || incoming.bad === undefined) return taken;
  return { ...taken, record: keepKnown(taken.record, known, incoming.bad) };
}

function readEdits(fold: Fold, incoming: IncomingTask, known: TaskRecord | undefined): TakenIn {
  const { db, by, by_hand, report } = fold;
  const { record, line } = incoming;
  const edited = incoming.edited ?? writtenLine(line.text, record, known);
  if (edited === undefined) return { record, lost: [], is_back: false };
  const place = { path: fold.path, task_id: record.id, seal: edited.seal };
  const name = `${record.id} ${edited.seal}`;
  // A file that is only added to has several copies of a line; one of them says nothing of another.
  if (fold.edited.has(name)) return takeInEdits(edited, { known, now: by.now });
  fold.edited.add(name);
  const last = readShown(db, place);
  const taken = takeInEdits(edited, { known, now: by.now, by_hand: by_hand?.has(line.text), last });
  if (taken.is_back && by_hand === undefined && last !== undefined)
    report.put_back = [...(report.put_back ?? []), { text: line.text, seal: edited.seal, last }];
  else writeShown(db, { ...place, digests: digestRecord(record) }, fold.appender);
  return taken;
}

/** Writes the joined record, tells what is worth telling, and returns the digest of its line. */
export function saveJoined(
  fold: Fold,
  before: Known | undefined,
  record: TaskRecord,
  known?: EncodedRecord,
): number {
  const { db, report, by } = fold;
  const changed = report.created + report.updated + report.deleted;
  const { numbers, encoded } = applyRecord(db, before, record, {
    now: by.now,
    triggered_by: FOLDED_BY,
    silent: changed >= LIMITS.fold_events,
    bulk: fold.bulk,
    encoded: known,
  });
  fold.appender.append(encoded.line, numbers);
  if (isDeleted(record)) report.deleted += 1;
  else if (before?.stored === undefined) report.created += 1;
  else report.updated += 1;
  if (before !== undefined) {
    tellLosses(report, before.record, record);
    const what = changed < LIMITS.fold_events ? listGateChanges(before.record, record) : [];
    if (what.length > 0) (report.gates ??= []).push({ id: record.id, what });
  }
  return encoded.digest;
}

/** Of a row from a version that wrote other lines: no change of the task. */
export function renewDigest(db: Database, record: TaskRecord): number {
  const { line, stamps, digest } = toEncoded(record);
  db.run('UPDATE tasks SET stamps = ?, digest = ? WHERE id = ?', stamps, digest, record.id);
  db.run('UPDATE deleted_tasks SET line = ?, digest = ? WHERE id = ?', line, digest, record.id);
  return digest;
}

function tellLosses(report: FoldReport, before: TaskRecord, after: TaskRecord): void {
  const was = before.life;
  const now = after.life;
  const claims = was.status === 'in_progress' && now.status === 'in_progress' && was.n === now.n;
  if (claims && was.assignee !== null && now.assignee !== null && was.assignee !== now.assignee) {
    report.lost_claims.push({ id: after.id, was: was.assignee, now: now.assignee });
  }
  const deletedAt = after.fields.get('deleted_at')?.stamp ?? 0;
  if (isDeleted(after) && !isDeleted(before) && lastStamp(before) > deletedAt) {
    report.edited_deleted.push(after.id);
  }
}
