import { LIFE, markShown, markValue, type LostValue, type ValueMark } from './lost-values.ts';
import { findLifeWrite, judgeLives, type OwnRun, type OwnWrite } from './own-values.ts';
import { readDigests } from './record-digests.ts';
import { findUnseen, valueAt } from './replaced-values.ts';
import type { EditedLine, TakenIn } from './take-in-edits.ts';
import type { Element, TaskRecord } from './task-record.ts';
import { findUnsharedLosses, type KnownChanges } from './unshared-values.ts';

/** A value that was written in this store. */
export interface OwnValue {
  readonly id: string;
  /** A field's name or `metadata.<key>`. */
  readonly name: string;
  readonly mark: ValueMark;
  /** The value that it fell against. */
  readonly stands: ValueMark;
  /** True: it fell against what stands here, so that only the history of this checkout can tell. */
  readonly is_theirs?: boolean | undefined;
}

export function toOwnKey({ id, name, mark, stands }: OwnValue): string {
  const [falls, beaten_by] = [mark, stands].map(({ stamp, hash }) => `${stamp.toString(36)}.${hash}`);
  return `${id} ${name}@${falls}<${beaten_by}`;
}

/** A task here, and the line that a file has of it. */
export interface Meeting {
  readonly known: TaskRecord;
  readonly incoming: {
    readonly record: TaskRecord;
    readonly edited: EditedLine | undefined;
    /** Stands on a side of a conflict: neither writer had seen the other. */
    readonly is_side: boolean;
  };
  readonly taken: TakenIn;
}

export interface LossFacts {
  /** What this store remembers of the life that it wrote last. */
  readonly readRun: () => OwnRun | undefined;
  /** What the feed says of the task. */
  readonly changes: KnownChanges;
  /** Values of this store that the history of the file holds, by `toOwnKey`. */
  readonly seen: ReadonlySet<string> | undefined;
  /** The file is of another branch or clone. */
  readonly elsewhere: boolean | undefined;
}

export interface Losses {
  /** What does not stand although its writer, or the writer of what stands, had not seen the other. */
  readonly lost: readonly LostValue[];
  /** Of which it is not known whether that was meant. */
  readonly unsure: OwnValue | undefined;
}

export function judgeLosses(meeting: Meeting, facts: LossFacts): Losses {
  const { known, incoming, taken } = meeting;
  if (isForeign(incoming)) {
    const unshared = findUnsharedLosses(known, taken.record, facts.changes);
    return { lost: [...taken.lost, ...unshared], unsure: undefined };
  }
  const lost = [...taken.lost, ...findUnseen(known, taken.record, { findSeal: sealFinder(incoming) })];
  const life = judgeLife(meeting, facts);
  return { lost: life.lost === undefined ? lost : [...lost, life.lost], unsure: life.unsure };
}

/** A line keeps the stamps of what Forge wrote there: under them an edit that was taken in before stands there still. */
function sealFinder({
  record,
  edited,
}: Meeting['incoming']): (name: string, value: Element) => string | undefined {
  const written = edited?.written === undefined ? undefined : readDigests(edited.written);
  if (edited === undefined || written === undefined) return () => undefined;
  return (name, value) => {
    if (valueAt(record, name).stamp !== value.stamp) return undefined;
    const isWritten = markShown(name, written, value.stamp).hash === markValue(name, value).hash;
    return isWritten ? undefined : edited.seal;
  };
}

function judgeLife(
  { known, incoming, taken }: Meeting,
  { readRun, seen, elsewhere }: LossFacts,
): { readonly lost?: LostValue | undefined; readonly unsure: OwnValue | undefined } {
  // The person who edited a line saw what it showed; that was judged when the edit was taken in.
  if (incoming.record.life !== taken.record.life || known.life === taken.record.life)
    return { unsure: undefined };
  const { lost, unsure, stands, falls } = judgeLives(known, taken.record, readRun(), elsewhere);
  if (unsure === undefined || stands === undefined) return { lost, unsure: undefined };
  const is_theirs = falls === 'theirs';
  const value = { id: known.id, name: LIFE, mark: markValue(LIFE, unsure), stands, is_theirs };
  if (seen?.has(toOwnKey(value)) === true) return { unsure: undefined };
  return { lost: unsure, unsure: incoming.is_side ? undefined : value };
}

/** A line of another tool has no stamps that say what its writer knew. */
function isForeign({ edited }: Meeting['incoming']): boolean {
  return edited !== undefined && edited.written === undefined;
}

/** An edit by hand of status, owner or closing that was first seen here, and stands, was written here. */
export function findEditedLife({ known, incoming, taken }: Meeting, after: TaskRecord): OwnWrite | undefined {
  if (incoming.record.life === taken.record.life || isForeign(incoming)) return undefined;
  return after.life === taken.record.life ? findLifeWrite(known, after) : undefined;
}
