import { dirname } from 'node:path';
import { birthOf, isSameTask } from '#domain/identity.ts';
import { joinCopies } from '#domain/join-copies.ts';
import { keepLostValues } from '#domain/lost-values.ts';
import { digestRecord } from '#domain/record-digests.ts';
import { lastStamp } from '#domain/task-record.ts';
import { lineDigest } from '#kernel/checksum.ts';
import { toIso } from '#kernel/clock.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { Writer } from '../store.ts';
import type { FileLine, FoldReport, FoldRequest, OpenFile } from '../sync-store.ts';
import { readKnown } from './apply-record.ts';
import { writeInBulk } from './bulk-writes.ts';
import type { Database } from './database.ts';
import { EdgeQueue } from './edge-queue.ts';
import { readMark, writeMark, writeUnreadable } from './file-marks.ts';
import { quickId, readDigests, readSharedBirths, SharedBirth, type IncomingTask } from './fold-lines.ts';
import {
  asKnown,
  asksFirst,
  FOLDED_BY,
  keepUnsealed,
  readIncoming,
  readTask,
  renewDigest,
  saveJoined,
  type Fold,
} from './fold-records.ts';
import { foldWholeFile } from './fold-whole-file.ts';
import { readPlainLine } from './plain-lines.ts';
import { insertEvent, newestEvent } from './log-rows.ts';
import { INSERT_RECORD } from './record-rows.ts';
import { appendingTo } from './replica-appender.ts';
import type { Replica } from './replica.ts';
import { writeFolded } from './shown-base.ts';
import { keepMissing } from './missing-lines.ts';
import { keepShown } from './shown-lines.ts';
import { judgeLosses, noteEdits } from './judge-losses.ts';

/** Joins a file into the store in one transaction; see FoldRequest. */
export function foldTasks(
  store: { db: Database; replica: Replica },
  request: FoldRequest,
  by: Writer,
): FoldReport {
  const { path, by_hand, stood, seen, elsewhere, answers } = request;
  const settle = (report: FoldReport): FoldReport => {
    const isUnsure = request.asks === true && report.unsure !== undefined;
    if (request.dry_run === true || isUnsure) throw new DryRun(report);
    return report;
  };
  try {
    return appendingTo(store, by, (appender) => {
      const opened = request.open(readMark(store.db, request.path));
      return settle(
        opened === undefined
          ? emptyReport()
          : foldFile(store.db, opened, { appender, by, path, by_hand, stood, seen, elsewhere, answers }),
      );
    });
  } catch (error) {
    if (error instanceof DryRun) return error.report;
    if (!(error instanceof SharedBirth)) throw error;
  }
  try {
    return appendingTo(store, by, (appender) => {
      const opened = request.open(undefined);
      if (opened === undefined) return emptyReport();
      const fold = startFold(store.db, { appender, by, path, by_hand, stood, seen, elsewhere, bulk: true });
      writeInBulk(store.db, () => foldWholeFile(fold, opened.lines));
      return settle(endFold(fold, opened, false));
    });
  } catch (error) {
    if (error instanceof DryRun) return error.report;
    throw error;
  }
}

/** Leaves the transaction, so that all of it is taken back. */
class DryRun extends Error {
  readonly report: FoldReport;
  constructor(report: FoldReport) {
    super('dry run');
    this.report = report;
  }
}

function startFold(
  db: Database,
  how: Pick<
    Fold,
    'appender' | 'by' | 'path' | 'by_hand' | 'stood' | 'seen' | 'elsewhere' | 'answers' | 'present' | 'bulk'
  >,
): Fold {
  return {
    db,
    ...how,
    report: emptyReport(),
    digests: readDigests(db),
    unreadable: [],
    edited: new Set(),
    edges: new EdgeQueue(db),
  };
}

function foldFile(
  db: Database,
  opened: OpenFile,
  how: Pick<Fold, 'appender' | 'by' | 'path' | 'by_hand' | 'stood' | 'seen' | 'elsewhere' | 'answers'>,
): FoldReport {
  const known = Number(
    db.get('SELECT (SELECT count(*) FROM tasks) + (SELECT count(*) FROM deleted_tasks) AS n')?.n,
  );
  const bulk = opened.expected - known > LIMITS.fold_events;
  const fold = startFold(db, { ...how, present: new Set(), bulk });
  const work = (): boolean => foldLines(fold, opened.lines);
  const exact = fold.bulk ? writeInBulk(db, work) : work();
  return endFold(fold, opened, exact);
}

/** True when the file holds exactly what the store holds now, byte for byte. */
function foldLines(fold: Fold, lines: Iterable<FileLine>): boolean {
  const { digests, report } = fold;
  const shared = readSharedBirths(fold.db);
  let exact = true;
  let last = '';
  let same = 0;
  const unstamped: IncomingTask[] = [];
  for (const line of lines) {
    const id = quickId(line.text);
    exact &&= id !== undefined && id > last && line.side === undefined;
    last = id ?? last;
    if (id !== undefined) fold.present?.add(id);
    const known = id === undefined ? undefined : digests.get(id);
    if (known !== undefined && known === lineDigest(line.text)) {
      report.unchanged += 1;
      same += 1;
      continue;
    }
    if (fold.bulk && known === undefined && savePlainLine(fold, line, shared)) {
      same += 1;
      continue;
    }
    const incoming = readTask(fold, line);
    if (incoming === undefined) {
      exact = false;
      continue;
    }
    fold.present?.add(incoming.record.id);
    if (incoming.edited?.unstamped !== undefined) {
      if (digests.has(incoming.record.id)) {
        unstamped.push(incoming);
        continue;
      }
      if (asksFirst(fold, incoming)) {
        exact = false;
        continue;
      }
    }
    const { record } = incoming;
    const after = foldTask(fold, incoming, shared);
    digests.set(record.id, after);
    if (after === (incoming.encoded?.digest ?? lineDigest(line.text))) same += 1;
    else if (incoming.edited === undefined)
      keepUnsealed(fold, record.id, { digests: digestRecord(record), updated: lastStamp(record) });
  }
  foldUnstamped(fold, unstamped, shared);
  fold.edges.write();
  return exact && same === digests.size;
}

/** At the end, because only then it is known which line of a task is the last. */
function foldUnstamped(fold: Fold, lines: readonly IncomingTask[], shared: ReadonlySet<string>): void {
  const last = new Map(lines.map((incoming) => [incoming.record.id, incoming]));
  for (const incoming of lines) {
    const { id } = incoming.record;
    const is_former = last.get(id) !== incoming;
    fold.digests.set(id, foldTask(fold, { ...incoming, is_former }, shared));
  }
}

/** False for a line that needs more than a new row, or an event of its own. */
function savePlainLine(fold: Fold, { text }: FileLine, shared: ReadonlySet<string>): boolean {
  const { db, digests, report } = fold;
  if (report.created < LIMITS.fold_events) return false;
  const plain = readPlainLine(text);
  if (plain === undefined || digests.has(plain.id) || birthOf(plain) !== plain.id || shared.has(plain.id))
    return false;
  const numbers = { version: 1, fence: plain.assignee === null ? 0 : 1 };
  db.run(INSERT_RECORD, plain.id, ...plain.values(numbers, db.parkedStates));
  for (const { id, type } of plain.edges) fold.edges.add(plain.id, id, type);
  fold.appender.append(text, numbers);
  report.created += 1;
  digests.set(plain.id, plain.digest);
  return true;
}

/** Returns the digest that the task's line has now. */
function foldTask(fold: Fold, incoming: IncomingTask, shared: ReadonlySet<string>): number | null {
  const { db, report } = fold;
  const { record } = incoming;
  if (fold.digests.has(record.id)) fold.edges.write();
  const known = fold.digests.has(record.id) ? readKnown(db, record.id) : undefined;
  if (known === undefined) {
    const birth = birthOf(record);
    if (shared.has(birth) || (birth !== record.id && fold.digests.has(birth))) throw new SharedBirth(birth);
    return saveJoined(fold, undefined, readIncoming(fold, incoming, undefined).record, incoming.encoded);
  }
  const own = asKnown(fold, incoming, known.record);
  if (!isSameTask(known.record, own.record)) throw new SharedBirth(record.id);
  const taken = readIncoming(fold, own, known.record);
  const lost = judgeLosses(fold, { known: known.record, incoming: own, taken });
  const joined = joinCopies(known.record, taken.record);
  const after = keepLostValues(joined, lost);
  // The same value may be lost by the edit and by the join.
  for (const name of new Set(lost.map((one) => one.name))) report.conflicts.push({ id: record.id, name });
  if (after === known.record) {
    report.unchanged += 1;
    return fold.digests.get(record.id) ?? renewDigest(db, known.record);
  }
  noteEdits(fold, { known: known.record, incoming: own, taken, after });
  return saveJoined(fold, known, after);
}

function endFold(fold: Fold, opened: OpenFile, exact: boolean): FoldReport {
  const { db, report, by } = fold;
  const changed = report.created + report.updated + report.deleted;
  if (changed > LIMITS.fold_events || report.renamed.length > 0) {
    // So many at once are one event, and a name that is gone has none: whoever follows the feed reads the tasks anew.
    const { created, updated, deleted } = report;
    insertEvent(db, {
      type: 'project.changed',
      task_id: null,
      triggered_by: FOLDED_BY,
      created_at: toIso(by.now),
      data: { changed: ['tasks'], created, updated, deleted },
    });
  }
  const mark = opened.mark();
  const damaged = opened.damaged();
  writeUnreadable(db, mark.path, [...fold.unreadable, ...damaged]);
  const more = (report.unreadable_more ?? 0) + (opened.more?.() ?? 0);
  if (more > 0) {
    report.unreadable_more = more;
    opened.keepWhole?.(dirname(db.path));
  }
  for (const _ of damaged) report.unreadable.push({ number: 0, why: 'it is not UTF-8' });
  const isExact = exact && damaged.length === 0 && opened.isPlain?.() !== false;
  if (!isExact && fold.present !== undefined) keepMissing(fold, fold.present);
  keepShown(db, fold.path, fold.edited);
  // Until lines that are asked about are answered the file counts as not read: this process may not come to the answer.
  const isAsked = fold.by_hand === undefined && report.put_back !== undefined;
  const unread = { mtime: '0', digest: '', looked_at: readMark(db, mark.path)?.looked_at ?? 0 };
  writeMark(db, { ...mark, ...(isAsked && unread), event_seq: isExact ? newestEvent(db) : null });
  if (!isExact) writeFolded(db, mark.path, newestEvent(db));
  return report;
}

function emptyReport(): FoldReport {
  return {
    created: 0,
    updated: 0,
    deleted: 0,
    unchanged: 0,
    unreadable: [],
    lost_claims: [],
    conflicts: [],
    renamed: [],
    edited_deleted: [],
  };
}
