import { LIFE, markShown, markValue, type LostValue } from '#domain/lost-values.ts';
import { findLifeWrite, judgeLives } from '#domain/own-values.ts';
import { readDigests } from '#domain/record-digests.ts';
import { findUnseen, valueAt } from '#domain/replaced-values.ts';
import type { TakenIn } from '#domain/take-in-edits.ts';
import { findUnsharedLosses } from '#domain/unshared-values.ts';
import type { Element, TaskRecord } from '#domain/task-record.ts';
import { toOwnKey } from '../sync-store.ts';
import type { IncomingTask } from './fold-lines.ts';
import type { Fold } from './fold-records.ts';
import { noteOwnWrite, readOwnRun } from './own-runs.ts';

/** A task here, and the line that a file has of it. */
export interface Meeting {
  readonly known: TaskRecord;
  readonly incoming: IncomingTask;
  readonly taken: TakenIn;
}

/** What does not stand although its writer, or the writer of what stands, had not seen the other. */
export function judgeLosses(fold: Fold, meeting: Meeting): LostValue[] {
  const { known, incoming, taken } = meeting;
  if (isForeign(incoming)) {
    const changes = { events: () => fold.rows.listTaskEvents(known.id), exported: exportedSeq(fold) };
    return [...taken.lost, ...findUnsharedLosses(known, taken.record, changes)];
  }
  const lost = [...taken.lost, ...findUnseen(known, taken.record, { findSeal: sealFinder(incoming) })];
  const life = judgeLife(fold, meeting);
  return life === undefined ? lost : [...lost, life];
}

/** A line keeps the stamps of what Forge wrote there: under them an edit that was taken in before stands there still. */
function sealFinder({ record, edited }: IncomingTask): (name: string, value: Element) => string | undefined {
  const written = edited?.written === undefined ? undefined : readDigests(edited.written);
  if (edited === undefined || written === undefined) return () => undefined;
  return (name, value) => {
    if (valueAt(record, name).stamp !== value.stamp) return undefined;
    const isWritten = markShown(name, written, value.stamp).hash === markValue(name, value).hash;
    return isWritten ? undefined : edited.seal;
  };
}

function judgeLife(
  { rows, seen, report, elsewhere }: Fold,
  { known, incoming, taken }: Meeting,
): LostValue | undefined {
  // The person who edited a line saw what it showed; that was judged when the edit was taken in.
  if (incoming.record.life !== taken.record.life || known.life === taken.record.life) return undefined;
  const run = readOwnRun(rows, known.id);
  const { lost, unsure, stands, falls } = judgeLives(known, taken.record, run, elsewhere);
  if (unsure === undefined || stands === undefined) return lost;
  const is_theirs = falls === 'theirs';
  const value = { id: known.id, name: LIFE, mark: markValue(LIFE, unsure), stands, is_theirs };
  if (seen?.has(toOwnKey(value)) === true) return undefined;
  // Of two sides of a conflict in the file neither had seen the other.
  if (incoming.line.side === undefined) (report.unsure ??= []).push(value);
  return unsure;
}

/** A line of another tool has no stamps that say what its writer knew. */
function isForeign({ edited }: IncomingTask): boolean {
  return edited !== undefined && edited.written === undefined;
}

/** An edit by hand of status, owner or closing that was first seen here, and stands, was written here. */
export function noteEdits(
  { rows }: Fold,
  { known, incoming, taken, after }: Meeting & { readonly after: TaskRecord },
): void {
  if (incoming.record.life === taken.record.life || isForeign(incoming)) return;
  const write = findLifeWrite(known, after);
  if (write === undefined || after.life !== taken.record.life) return;
  noteOwnWrite(rows, known.id, write);
}

/** The newest event that the files hold. */
function exportedSeq({ rows }: Fold): number {
  return rows.findFact('exported_seq') ?? 0;
}
