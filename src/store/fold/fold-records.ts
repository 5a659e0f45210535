import { toEncoded, type EncodedRecord } from '#domain/encoded-record.ts';
import { editedLine, writtenLine } from '#domain/edited-line.ts';
import { keepKnown, readGoodValues, withKnownParts } from '#domain/good-values.ts';
import { listGateChanges } from '#domain/list-gate-changes.ts';
import { isSameTask } from '#domain/identity.ts';
import { keepIdentity } from '#domain/kept-identity.ts';
import { decodeRecord } from '#domain/record-codec.ts';
import { digestRecord } from '#domain/record-digests.ts';
import type { PutBackLine } from '#domain/taken-back.ts';
import { findUntaken } from '#domain/untaken-edits.ts';
import { hasTaken } from '#domain/take-in-foreign.ts';
import { takeInEdits, type EditedLine, type ShownState, type TakenIn } from '#domain/take-in-edits.ts';
import { isDeleted, lastStamp, type TaskRecord } from '#domain/task-record.ts';
import { parseJson, type JsonObject } from '#kernel/json.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { Writer } from '../store.ts';
import type { FileLine, FoldReport } from '../sync-store.ts';
import { decodeLine, quickId, whyUnreadable, type IncomingTask } from './fold-lines.ts';
import type { FoldedTask } from './fold-rows.ts';
import { nameUnsealed, readPast, readShownState, type LookedAt } from './shown-base.ts';

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
  const taken = readEdits(fold, incoming, known);
  if (known === undefined || incoming.bad === undefined) return taken;
  return { ...taken, record: keepKnown(taken.record, known, incoming.bad) };
}

function readEdits(fold: Fold, incoming: IncomingTask, known: TaskRecord | undefined): TakenIn {
  const { rows, by, by_hand, report } = fold;
  const { record, line } = incoming;
  const edited = incoming.edited ?? writtenLine(line.text, record, known);
  if (edited === undefined) {
    if (by_hand === undefined && line.side === undefined) noteOverwritten(fold, incoming, known);
    return { record, lost: [], is_back: false };
  }
  if (edited.unstamped !== undefined && known !== undefined) {
    return readUnstamped(fold, { ...incoming, edited }, known);
  }
  // One that others were written upon was taken in before, and is not made again by them.
  if (known !== undefined && fold.stood?.has(line.text) === true && hasTaken(known, edited))
    return { record: known, lost: [], is_back: false };
  const place = { path: fold.path, task_id: record.id, seal: edited.seal };
  const name = `${record.id} ${edited.seal}`;
  // A file that is only added to has several copies of a line; one of them says nothing of another.
  if (fold.edited.has(name)) return takeInEdits(edited, { known, now: by.now });
  fold.edited.add(name);
  const shown = rows.readShown(place);
  const guess = shown === undefined && line.side === undefined ? guessShown(edited, known) : undefined;
  const last = shown ?? guess?.last;
  const taken = takeInEdits(edited, { known, now: by.now, by_hand: by_hand?.has(line.text), last });
  if (taken.is_back && by_hand === undefined && last !== undefined) {
    const isKnown =
      known !== undefined && hasTaken(known, edited) && !known.hand?.has(`${edited.seal}:${last}`);
    const asked = { text: line.text, seal: edited.seal, last, guessed: guess?.guessed };
    askAbout(report, { ...asked, ...(isKnown && { known: true }) });
  } else rows.writeShown({ ...place, digests: digestRecord(record) }, { outlives: true });
  return taken;
}

/** A line that another clone wrote, which has not taken in an edit that the task still shows here. */
function noteOverwritten(
  { report }: Fold,
  { record, line }: IncomingTask,
  known: TaskRecord | undefined,
): void {
  if (known?.hand === undefined) return;
  for (const { seal, last } of findUntaken(record, known))
    askAbout(report, { text: line.text, seal, last, guessed: 'back', overwritten: true });
}

/** What a file may have showed before, of which only this is known: that the task has edits of the same line. */
function guessShown(
  { record, seal, written }: EditedLine,
  known: TaskRecord | undefined,
): Pick<PutBackLine, 'last' | 'guessed'> | undefined {
  const edits = [...(known?.hand ?? [])].filter(([edit]) => edit.startsWith(`${seal}:`));
  const [newest] = edits.toSorted(([, one], [, other]) => other - one);
  if (newest === undefined || written === undefined) return undefined;
  const shows = digestRecord(record);
  if (shows === written) return { last: newest[0].slice(seal.length + 1), guessed: 'back' };
  return edits.some(([edit]) => edit === `${seal}:${shows}`) ? { last: written, guessed: 'edit' } : undefined;
}

/** The last of several lines of a task is what the file shows; those before it are what it showed once. */
function readUnstamped(
  fold: Fold,
  { edited, line, record, is_former }: IncomingTask & { readonly edited: EditedLine },
  known: TaskRecord,
): TakenIn {
  const { rows, by, by_hand, report } = fold;
  const past = (): string[] => readPast(rows, known);
  if (is_former === true || line.side !== undefined) return takeInEdits(edited, { known, now: by.now, past });
  const stood = fold.stood?.get(line.text);
  // It stood there before the last look, and says nothing new of values that were written since.
  if (stood === null && hasTaken(known, edited)) return { record: known, lost: [], is_back: false };
  const shown = stood === undefined ? readShownState(fold, known) : (stood ?? undefined);
  const mayAsk = by_hand === undefined && (report.put_back?.length ?? 0) < LIMITS.asked_lines;
  if (mayAsk && !hasTaken(known, edited)) {
    const is_shown = shown === undefined ? undefined : (true as const);
    askAbout(report, { text: line.text, seal: record.id, last: '', stood: [], is_shown });
    if (shown !== undefined) keepUnsealed(fold, record.id, shown);
    return { record: known, lost: [], is_back: true };
  }
  const where = { known, now: by.now, by_hand: by_hand?.has(line.text), shown, past };
  // Taken in before, a line says no more than it did then, but by what it changed in this place.
  const isOld = shown === undefined && where.by_hand !== true && hasTaken(known, edited);
  const taken = isOld ? { record: known, lost: [], is_back: false } : takeInEdits(edited, where);
  const isUnsure = taken.is_back && shown !== undefined;
  if (isUnsure) {
    const isKnown = hasTaken(known, edited) && !known.hand?.has(`${edited.seal}:${shown.digests}`);
    const asked = { text: line.text, seal: record.id, last: shown.digests };
    askAbout(report, { ...asked, ...(isKnown && { known: true }) });
  }
  // What stood there is remembered until it is known who changed it.
  keepUnsealed(
    fold,
    record.id,
    isUnsure ? shown : { digests: digestRecord(record), updated: edited.updated },
  );
  return taken;
}

/**
 * A task that only a line without stamps tells of: commits may have it with stamps, and then the line is an edit of that.
 * Taken as it is, it would know nothing of what it replaced.
 */
export function asksFirst({ answers, by_hand, report }: Fold, { line, record }: IncomingTask): boolean {
  if (answers !== true || by_hand !== undefined || line.side !== undefined) return false;
  if ((report.put_back?.length ?? 0) >= LIMITS.asked_lines) return false;
  askAbout(report, { text: line.text, seal: record.id, last: '', stood: [] });
  return true;
}

function askAbout(report: FoldReport, line: PutBackLine): void {
  (report.put_back ??= []).push(line);
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
