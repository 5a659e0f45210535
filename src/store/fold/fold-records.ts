import { toEncoded, type EncodedRecord } from '#domain/encoded-record.ts';
import { askFirst, decideTakeIn, type IncomingLine } from '#domain/decide-take-in.ts';
import { editedLine } from '#domain/edited-line.ts';
import { nameUnsealed } from '#domain/find-shown-state.ts';
import { findFoldLosses } from '#domain/fold-losses.ts';
import { readGoodValues, withKnownParts } from '#domain/good-values.ts';
import { listGateChanges } from '#domain/list-gate-changes.ts';
import { isSameTask } from '#domain/identity.ts';
import { findEditedLife, judgeLosses } from '#domain/judge-losses.ts';
import { keepIdentity } from '#domain/kept-identity.ts';
import type { LostValue } from '#domain/lost-values.ts';
import { decodeRecord } from '#domain/record-codec.ts';
import type { PutBackLine } from '#domain/taken-back.ts';
import type { ShownState, TakenIn } from '#domain/take-in-edits.ts';
import { isDeleted, type TaskRecord } from '#domain/task-record.ts';
import { parseJson, type JsonObject } from '#kernel/json.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { Writer } from '../store.ts';
import type { FileLine, FoldReport } from '../replication.ts';
import { decodeLine, quickId, whyUnreadable, type IncomingTask } from './fold-lines.ts';
import type { FoldedTask } from './fold-rows.ts';
import { noteOwnWrite, readOwnRun } from './own-runs.ts';
import { readPast, readShownState, type LookedAt } from './shown-base.ts';

/** Lines that are no entries, of one file: so many are told and kept, the others are counted. */
export const UNREADABLE_KEPT = 10_000;

/** One fold under way. */
export interface Fold extends LookedAt {
  readonly by: Writer;
  readonly report: FoldReport;
  readonly digests: Map<string, number | null>;
  readonly unreadable: string[];
  readonly elsewhere?: boolean | undefined;
  readonly answers?: boolean | undefined;
  readonly by_hand: ReadonlySet<string> | undefined;
  readonly stood: ReadonlyMap<string, ShownState | null> | undefined;
  readonly seen: ReadonlySet<string> | undefined;
  /** The edited lines of the file so far, as `id seal`. */
  readonly edited: Set<string>;
  /** The tasks that the file has lines of, so far; left out where that is not followed. */
  readonly present?: Set<string> | undefined;
  /** Inside FoldRows.inBulk. */
  readonly bulk: boolean;
}

/** Undefined for a line that is no task. It is reported and kept, also where only some of its values cannot be read. */
export function readTask(fold: Fold, line: FileLine): IncomingTask | undefined {
  const { report, unreadable } = fold;
  try {
    return decodeLine(line);
  } catch (error) {
    const short = readShort(fold, line);
    if (short !== undefined) return short;
    if (isLocalLine(fold, line)) return undefined;
    const why = whyUnreadable(error);
    if (report.unreadable.length < UNREADABLE_KEPT) {
      report.unreadable.push({ number: line.number, why });
      unreadable.push(line.text);
    } else report.unreadable_more = (report.unreadable_more ?? 0) + 1;
    return readGoodPart(fold, line);
  }
}

/** What a copy of a local replica says of the store it comes from, which is nothing to another. */
function isLocalLine({ path }: Fold, { text }: FileLine): boolean {
  return path.startsWith('import:') && /^\{"(?:shown|lease|fact)":/.test(text);
}

/** A line of a known task that lacks what says which task it is, or how it stands: that is as it is known. */
function readShort({ rows, digests }: Fold, line: FileLine): IncomingTask | undefined {
  const json = line.text.trimStart().startsWith('{') ? tryParse(line.text) : undefined;
  const id = json?.['id'];
  if (json === undefined || typeof id !== 'string' || !digests.has(id) || '_v' in json) return undefined;
  rows.settle();
  const known = rows.readKnown(id)?.record;
  if (known === undefined) return undefined;
  try {
    const whole = withKnownParts(json, known);
    const record = decodeRecord(whole);
    return { record, line, edited: editedLine(line.text, whole, record), json: whole, encoded: undefined };
  } catch (error) {
    whyUnreadable(error);
    return undefined;
  }
}

function readGoodPart({ rows, digests }: Fold, line: FileLine): IncomingTask | undefined {
  const id = quickId(line.text);
  if (id === undefined || !digests.has(id)) return undefined;
  rows.settle();
  const known = rows.readKnown(id);
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
  const { rows, path, by, report } = fold;
  const { id } = incoming.record;
  const { taken, asks, seal, shows, shows_state } = decideTakeIn(toLine(incoming), {
    known,
    now: by.now,
    by_hand: fold.by_hand,
    stood: fold.stood,
    asked: report.put_back?.length ?? 0,
    isAgain: (edited) => fold.edited.has(`${id} ${edited}`),
    findShown: (edited) => rows.readShown({ path, task_id: id, seal: edited }),
    findShownState: () => known && readShownState(fold, known),
    listPast: () => (known === undefined ? [] : readPast(rows, known)),
  });
  askAbout(report, asks);
  if (seal !== undefined) fold.edited.add(`${id} ${seal}`);
  if (seal !== undefined && shows !== undefined)
    rows.writeShown({ path, task_id: id, seal, digests: shows }, { outlives: true });
  if (shows_state !== undefined) keepUnsealed(fold, id, shows_state);
  return taken;
}

function toLine({ line, ...incoming }: IncomingTask): IncomingLine {
  return { ...incoming, text: line.text, is_side: line.side !== undefined };
}

/** Whether the line waits for what commits tell of it. */
export function asksFirst({ answers = false, by_hand, report }: Fold, incoming: IncomingTask): boolean {
  const asked = report.put_back?.length ?? 0;
  const ask = askFirst(toLine(incoming), { answers, by_hand, asked });
  if (ask !== undefined) askAbout(report, [ask]);
  return ask !== undefined;
}

function askAbout(report: FoldReport, lines: readonly PutBackLine[]): void {
  if (lines.length > 0) (report.put_back ??= []).push(...lines);
}

/** What the file shows of a task where that is not what the store holds. */
export function keepUnsealed({ rows, path, edited }: Fold, task_id: string, shown: ShownState): void {
  const seal = nameUnsealed(Number.isFinite(shown.updated) ? shown.updated : LIMITS.stamp_max_ms - 1);
  edited.add(`${task_id} ${seal}`);
  rows.writeShown({ path, task_id, seal, digests: shown.digests }, { outlives: false });
}

/** Writes the joined record, tells what is worth telling, and returns the digest of its line. */
export function saveJoined(
  { rows, report }: Fold,
  before: FoldedTask | undefined,
  record: TaskRecord,
  known?: EncodedRecord,
): number {
  const changed = report.created + report.updated + report.deleted;
  const { digest } = rows.apply(before, record, { silent: changed >= LIMITS.fold_events, encoded: known });
  if (isDeleted(record)) report.deleted += 1;
  else if (before?.is_here !== true) report.created += 1;
  else report.updated += 1;
  if (before !== undefined) {
    tellLosses(report, before.record, record);
    const what = changed < LIMITS.fold_events ? listGateChanges(before.record, record) : [];
    if (what.length > 0) (report.gates ??= []).push({ id: record.id, what });
  }
  return digest;
}

/** Of a row from a version that wrote other lines: no change of the task. */
export function renewDigest({ rows }: Fold, record: TaskRecord): number {
  const encoded = toEncoded(record);
  rows.renewLine(encoded);
  return encoded.digest;
}

function tellLosses(report: FoldReport, before: TaskRecord, after: TaskRecord): void {
  const { claim, is_edited_deleted } = findFoldLosses(before, after);
  if (claim !== undefined) report.lost_claims.push({ id: after.id, ...claim });
  if (is_edited_deleted) report.edited_deleted.push(after.id);
}

/** A task here, and the line that a file has of it. */
export interface MetLine {
  readonly known: TaskRecord;
  readonly incoming: IncomingTask;
  readonly taken: TakenIn;
}

/** What of the two does not stand; what has to be asked of it stands in the report. */
export function judgeMeeting(fold: Fold, { known, incoming, taken }: MetLine): readonly LostValue[] {
  const { rows, report, seen, elsewhere } = fold;
  const { lost, unsure } = judgeLosses(
    { known, incoming: toLine(incoming), taken },
    {
      readRun: () => readOwnRun(rows, known.id),
      changes: {
        events: () => rows.listTaskEvents(known.id),
        exported: () => rows.findFact('exported_seq') ?? 0,
      },
      seen,
      elsewhere,
    },
  );
  if (unsure !== undefined) (report.unsure ??= []).push(unsure);
  return lost;
}

export function noteEdits({ rows }: Fold, { known, incoming, taken }: MetLine, after: TaskRecord): void {
  const write = findEditedLife({ known, incoming: toLine(incoming), taken }, after);
  if (write !== undefined) noteOwnWrite(rows, known.id, write);
}
