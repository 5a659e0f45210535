import { birthOf, isSameTask } from '#domain/identity.ts';
import { joinCopies } from '#domain/join-copies.ts';
import { keepLostValues } from '#domain/lost-values.ts';
import { digestRecord } from '#domain/record-digests.ts';
import { lastStamp } from '#domain/task-record.ts';
import { lineDigest } from '#kernel/checksum.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { Writer } from '../store.ts';
import type { FileLine, FoldReport, FoldRequest } from '../replication.ts';
import { quickId, SharedBirth, type IncomingTask } from './fold-lines.ts';
import {
  asKnown,
  asksFirst,
  judgeMeeting,
  keepUnsealed,
  noteEdits,
  readIncoming,
  readTask,
  renewDigest,
  saveJoined,
  type Fold,
} from './fold-records.ts';
import type { FoldRows, FoldStore } from './fold-rows.ts';
import { findPutOff, TakenBack } from './fold-start.ts';
import { foldWholeFile } from './fold-whole-file.ts';
import { keepMissing } from './missing-lines.ts';
import { foldedAt } from './shown-facts.ts';

/** Joins a file into the store in one transaction; see FoldRequest. */
export function foldTasks(store: FoldStore, request: FoldRequest, by: Writer): FoldReport {
  const { path, by_hand, stood, seen, elsewhere, answers } = request;
  const how = { by, path, by_hand, stood, seen, elsewhere };
  const settle = (report: FoldReport): FoldReport => {
    const isUnsure = request.asks === true && report.unsure !== undefined;
    if (request.dry_run === true || isUnsure || report.copy_first === true)
      throw new TakenBack<FoldReport>(report);
    return report;
  };
  try {
    return store.write(by, (rows) => {
      const other = findPutOff(rows, request);
      if (other !== undefined) return settle({ ...emptyReport(), ...other });
      return settle(foldFile(rows, request, { ...how, answers }));
    });
  } catch (error) {
    if (error instanceof TakenBack) return error.report as FoldReport;
    if (!(error instanceof SharedBirth)) throw error;
  }
  try {
    return store.write(by, (rows) => {
      const other = findPutOff(rows, request);
      if (other !== undefined) return settle({ ...emptyReport(), ...other });
      const fold = startFold(rows, { ...how, bulk: true });
      rows.inBulk(() => foldWholeFile(fold, request.lines));
      return settle(endFold(fold, request, false));
    });
  } catch (error) {
    if (error instanceof TakenBack) return error.report as FoldReport;
    throw error;
  }
}

type How = Pick<Fold, 'by' | 'path' | 'by_hand' | 'stood' | 'seen' | 'elsewhere' | 'answers'>;

function startFold(rows: FoldRows, how: How & Pick<Fold, 'present' | 'bulk'>): Fold {
  const report = emptyReport();
  return { rows, ...how, report, digests: rows.readDigests(), unreadable: [], edited: new Set() };
}

function foldFile(rows: FoldRows, request: FoldRequest, how: How): FoldReport {
  const bulk = request.expected - rows.countTasks() > LIMITS.fold_events;
  const fold = startFold(rows, { ...how, present: new Set(), bulk });
  const work = (): boolean => foldLines(fold, request);
  const exact = bulk ? rows.inBulk(work) : work();
  return endFold(fold, request, exact);
}

/** So many lines between two calls: each of them may draw. */
const PROGRESS = 1_000;

/** True when the file holds exactly what the store holds now, byte for byte. */
function foldLines(fold: Fold, { lines, progress }: Pick<FoldRequest, 'lines' | 'progress'>): boolean {
  const { digests, report } = fold;
  const shared = fold.rows.readSharedBirths();
  let exact = true;
  let last = '';
  let same = 0;
  let done = 0;
  const unstamped: IncomingTask[] = [];
  for (const line of lines) {
    if (done > 0 && done % PROGRESS === 0) progress?.(done);
    done += 1;
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
  fold.rows.settle();
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
  const { rows, digests, report } = fold;
  if (report.created < LIMITS.fold_events) return false;
  const saved = rows.savePlain?.(
    text,
    (task) => !digests.has(task.id) && birthOf(task) === task.id && !shared.has(task.id),
  );
  if (saved === undefined) return false;
  report.created += 1;
  digests.set(saved.id, saved.digest);
  return true;
}

/** Returns the digest that the task's line has now. */
function foldTask(fold: Fold, incoming: IncomingTask, shared: ReadonlySet<string>): number | null {
  const { rows, report } = fold;
  const { record } = incoming;
  if (fold.digests.has(record.id)) rows.settle();
  const known = fold.digests.has(record.id) ? rows.readKnown(record.id) : undefined;
  if (known === undefined) {
    const birth = birthOf(record);
    if (shared.has(birth) || (birth !== record.id && fold.digests.has(birth))) throw new SharedBirth(birth);
    return saveJoined(fold, undefined, readIncoming(fold, incoming, undefined).record, incoming.encoded);
  }
  const own = asKnown(fold, incoming, known.record);
  if (!isSameTask(known.record, own.record)) throw new SharedBirth(record.id);
  const taken = readIncoming(fold, own, known.record);
  const met = { known: known.record, incoming: own, taken };
  const lost = judgeMeeting(fold, met);
  const joined = joinCopies(known.record, taken.record);
  const after = keepLostValues(joined, lost);
  // The same value may be lost by the edit and by the join.
  for (const name of new Set(lost.map((one) => one.name))) report.conflicts.push({ id: record.id, name });
  if (after === known.record) {
    report.unchanged += 1;
    return fold.digests.get(record.id) ?? renewDigest(fold, known.record);
  }
  noteEdits(fold, met, after);
  return saveJoined(fold, known, after);
}

function endFold(fold: Fold, request: FoldRequest, exact: boolean): FoldReport {
  const { rows, report } = fold;
  const changed = report.created + report.updated + report.deleted;
  if (changed > LIMITS.fold_events || report.renamed.length > 0) {
    // So many at once are one event, and a name that is gone has none: whoever follows the feed reads the tasks anew.
    const { created, updated, deleted } = report;
    rows.tellProject({ changed: ['tasks'], created, updated, deleted });
  }
  const { mark, damaged = [] } = request;
  rows.writeUnreadable(mark.path, [...fold.unreadable, ...damaged]);
  const more = (report.unreadable_more ?? 0) + (request.more ?? 0);
  if (more > 0) {
    report.unreadable_more = more;
    if (request.is_copied !== true) report.copy_first = true;
  }
  for (const _ of damaged) report.unreadable.push({ number: 0, why: 'it is not UTF-8' });
  const isExact = exact && damaged.length === 0 && request.is_odd !== true;
  if (!isExact && fold.present !== undefined) keepMissing(fold, fold.present);
  keepShown(fold);
  // Until lines that are asked about are answered the file counts as not read: this process may not come to the answer.
  const isAsked = fold.by_hand === undefined && report.put_back !== undefined;
  const unread = { mtime: '0', digest: '', looked_at: rows.readMark(mark.path)?.looked_at ?? 0 };
  rows.writeMark({ ...mark, ...(isAsked && unread), event_seq: isExact ? rows.newestEvent() : null });
  if (!isExact) rows.writeFact(foldedAt(mark.path), rows.newestEvent());
  return report;
}

/** Forgets lines that are not in the file any more. */
function keepShown({ rows, path, edited }: Fold): void {
  for (const { task_id, seal } of rows.listShownOf(path))
    if (!edited.has(`${task_id} ${seal}`)) rows.forgetShown({ path, task_id, seal });
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
