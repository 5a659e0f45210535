import { markValue, type LostValue } from '#domain/lost-values.ts';
import {
  findReplaced,
  hasValue,
  judgeOwnValues,
  listRestamped,
  listWrites,
  type OwnRun,
} from '#domain/own-values.ts';
import type { TakenIn } from '#domain/take-in-edits.ts';
import { editRecord } from '#domain/task-changes.ts';
import type { TaskRecord } from '#domain/task-record.ts';
import { toOwnKey } from '../sync-store.ts';
import type { IncomingTask } from './fold-lines.ts';
import type { Fold } from './fold-records.ts';
import { noteOwnWrites, readOwnRuns } from './own-values.ts';
import { findUnsharedLosses } from './unshared-values.ts';

/** A task here, and the line that a file has of it. */
export interface Meeting {
  readonly known: TaskRecord;
  readonly incoming: IncomingTask;
  readonly taken: TakenIn;
}

/** What does not stand although its writer, or the writer of what stands, had not seen the other; and what was settled. */
export function judgeLosses(
  fold: Fold,
  { known, incoming, taken }: Meeting,
): { lost: LostValue[]; replaced: string[] } {
  const { db, seen, report } = fold;
  const { record: theirs } = taken;
  if (isForeign(incoming))
    return { lost: [...taken.lost, ...findUnsharedLosses(db, known, theirs)], replaced: [] };
  const runs = readOwnRuns(db, known.id);
  if (runs.size === 0) return { lost: [...taken.lost], replaced: [] };
  const { lost, unsure } = judgeOwnValues(known, theirs, withoutEdits(runs, incoming, theirs), {
    is_edited: incoming.edited !== undefined,
  });
  const fallen: LostValue[] = [];
  for (const one of unsure) {
    const value = { id: known.id, name: one.name, mark: markValue(one) };
    if (seen?.has(toOwnKey(value)) === true) continue;
    fallen.push(one);
    // Of two sides of a conflict in the file neither had seen the other.
    if (incoming.line.side === undefined) (report.unsure ??= []).push(value);
  }
  return { lost: [...taken.lost, ...lost, ...fallen], replaced: findReplaced(known, theirs, runs) };
}

/**
 * Whoever edited a line saw what it showed; that was judged when the edit was taken in. A value that was later than
 * ours, and that nobody here has seen, may have stood there before the edit.
 */
function withoutEdits(
  runs: ReadonlyMap<string, OwnRun>,
  { record }: IncomingTask,
  theirs: TaskRecord,
): ReadonlyMap<string, OwnRun> {
  if (record === theirs) return runs;
  const edited = new Map(listWrites(record, theirs).map(({ name, over }) => [name, over]));
  return new Map(
    [...runs].filter(([name, run]) => (edited.get(name)?.stamp ?? Infinity) > (run.at(-1)?.stamp ?? 0)),
  );
}

/** A line of another tool has no stamps that say what its writer knew. */
function isForeign({ edited }: IncomingTask): boolean {
  return edited !== undefined && edited.written === undefined;
}

/** Another clone could not know that its value was seen before it was replaced; this one does. */
export function settleReplaced(record: TaskRecord, keys: readonly string[], now: number): TaskRecord {
  if (keys.length === 0) return record;
  return editRecord(record, { conflicts: new Map(keys.map((key) => [key, { value: undefined }])) }, now);
}

/** An edit by hand that was first seen here, and stands, was written here; what an edit gave a later stamp still was. */
export function noteEdits(
  { db, appender }: Fold,
  { known, incoming, taken, after }: Meeting & { readonly after: TaskRecord },
): void {
  const restamped =
    known.hand === undefined ? [] : listRestamped(known, taken.record, readOwnRuns(db, known.id));
  const kept = restamped.filter(({ name, mark }) => hasValue(after, name, mark));
  for (const line of noteOwnWrites(db, known.id, kept)) appender.appendBeside(line);
  if (incoming.record === taken.record || isForeign(incoming)) return;
  const standing = new Map(listWrites(known, after).map((write) => [write.name, write]));
  const writes = listWrites(incoming.record, taken.record).flatMap(({ name, mark }) => {
    const write = standing.get(name);
    return write?.mark.stamp === mark.stamp && write.mark.hash === mark.hash ? [write] : [];
  });
  for (const line of noteOwnWrites(db, known.id, writes)) appender.appendBeside(line);
}

/** The same of a task that was not known here: what the line showed before it was edited is not known. */
export function noteFirstEdits({ db, appender }: Fold, { incoming, taken }: Omit<Meeting, 'known'>): void {
  if (incoming.record === taken.record || isForeign(incoming)) return;
  const writes = listWrites(incoming.record, taken.record).map((write) => ({
    ...write,
    over: { stamp: write.over.stamp, hash: '' },
  }));
  for (const line of noteOwnWrites(db, taken.record.id, writes)) appender.appendBeside(line);
}
