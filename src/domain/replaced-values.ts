import type { Json } from '#kernel/json.ts';
import { LIMITS } from '#kernel/limits.ts';
import { alignCopies } from './join-copies.ts';
import { compareElements, compareRegisters, elementOf } from './join-records.ts';
import {
  conflictKey,
  hasLost,
  markShown,
  markValue,
  METADATA,
  splitConflictKey,
  type LostValue,
  type ValueMark,
} from './lost-values.ts';
import { readDigests, type KnownDigests } from './record-digests.ts';
import { sameElement, sameJson } from './same-value.ts';
import { fieldValue, isDeleted, type Element, type ElementMap, type TaskRecord } from './task-record.ts';

/** Two deletions are one. */
const UNJUDGED: ReadonlySet<string> = new Set(['deleted_at']);

/**
 * The record after a write, with a note of every value that the write replaced: its place among the conflicts is taken,
 * as settled. The note travels with the record, so that every clone can tell whether the writer of one value had seen
 * another. What a task was made with needs none: all who have the task have seen that.
 */
export function noteReplaced(before: TaskRecord, after: TaskRecord): TaskRecord {
  const replaced: Replaced[] = [];
  if (before.fields !== after.fields) {
    for (const [name, field] of after.fields) {
      const old = before.fields.get(name);
      if (old === undefined || old === field || UNJUDGED.has(name)) continue;
      if (!sameJson(old.value, field.value))
        replaced.push({ name, old: markValue(name, old), at: field.stamp });
    }
  }
  if (before.metadata !== after.metadata) {
    for (const [key, element] of after.metadata.elements) {
      const old = before.metadata.elements.get(key);
      if (old === undefined || old === element || sameElement(old.value, element.value)) continue;
      const name = `${METADATA}${key}`;
      replaced.push({ name, old: markValue(name, old), at: element.stamp });
    }
  }
  return withReplaced(after, replaced);
}

interface Replaced {
  /** As in LostValue. */
  readonly name: string;
  readonly old: ValueMark;
  /** The stamp of what replaced it. */
  readonly at: number;
}

function withReplaced(record: TaskRecord, replaced: readonly Replaced[]): TaskRecord {
  const { conflicts, created } = record;
  let elements: Map<string, Element> | undefined;
  for (const { name, old, at } of replaced) {
    if (old.stamp === created) continue;
    const key = conflictKey(name, old);
    const known = (elements ?? conflicts.elements).get(key);
    if (known !== undefined && known.value === undefined && known.stamp >= at) continue;
    elements ??= new Map(conflicts.elements);
    elements.set(key, { value: undefined, stamp: Math.max(at, conflicts.floor + 1) });
    forgetOldest(elements, name);
  }
  return elements === undefined ? record : { ...record, conflicts: { ...conflicts, elements } };
}

/** Beyond so many the oldest notes of a place go: a copy that still has such a value is told of it once more. */
function forgetOldest(elements: Map<string, Element>, name: string): void {
  const notes = [...elements].filter(([key, { value }]) => value === undefined && key.startsWith(`${name}@`));
  if (notes.length <= LIMITS.replaced_values) return;
  const sorted = notes.sort(([, a], [, b]) => a.stamp - b.stamp);
  for (const [key] of sorted.slice(0, notes.length - LIMITS.replaced_values)) elements.delete(key);
}

/** A key of metadata that was taken out is told as null: a lost value is always some value. */
function withNull({ value, stamp }: Element): { value: Json; stamp: number } {
  return { value: value ?? null, stamp };
}

interface KnownBesides {
  /** Both writers began with it. */
  readonly isShared?: (name: string, value: Element) => boolean;
  /** The seal of the line, where it is an edit by hand that still stands there under the stamp of what Forge wrote. */
  readonly findSeal?: (name: string, value: Element) => string | undefined;
}

/**
 * Of two copies: what falls although the writer of what stands had not seen it. `known` is asked of a value where more is
 * known than the copies tell.
 */
export function findUnseen(a: TaskRecord, b: TaskRecord, known: KnownBesides = {}): LostValue[] {
  const [ours, theirs] = alignCopies(a, b);
  const lost: LostValue[] = [];
  const judge = (name: string, [stands, falls]: readonly [Element, Element], from: TaskRecord): void => {
    const { value } = withNull(falls);
    if (sameElement(stands.value ?? null, value)) return;
    if (falls.stamp === from.created || isEmptied(from, falls.stamp)) return;
    if (known.isShared?.(name, falls) === true) return;
    // An edit by hand has another stamp in each copy that took it in; what a command wrote has one.
    const seal = known.findSeal?.(name, falls);
    const same = [falls.stamp, ...findTakings([ours, theirs], { name, value: falls, seal })];
    const marks = same.map((stamp) => markValue(name, { value, stamp }));
    if ([ours, theirs].some((copy) => marks.some((mark) => hasLost(copy, name, mark)))) return;
    lost.push({ name, value, stamp: falls.stamp, beaten_at: stands.stamp });
  };
  for (const [name, here] of ours.fields) {
    const there = theirs.fields.get(name);
    if (there === undefined || there === here || UNJUDGED.has(name)) continue;
    const wins = compareRegisters(here, there) >= 0;
    judge(name, wins ? [here, there] : [there, here], wins ? theirs : ours);
  }
  // Of both: a copy that lists no element still says of each that it is gone.
  for (const key of keysOfBoth(ours.metadata, theirs.metadata)) {
    const here = elementOf(ours.metadata, key);
    const there = elementOf(theirs.metadata, key);
    const wins = compareElements(here, there) >= 0;
    const from = wins ? theirs : ours;
    // One that never had the key has taken nothing out.
    if (!from.metadata.elements.has(key)) continue;
    judge(`${METADATA}${key}`, wins ? [here, there] : [there, here], from);
  }
  return lost;
}

/** The emptiness that deletions of earlier versions wrote is no value. */
function isEmptied(record: TaskRecord, stamp: number): boolean {
  return isDeleted(record) && record.fields.get('deleted_at')?.stamp === stamp;
}

function keysOfBoth(a: ElementMap, b: ElementMap): Iterable<string> {
  if (a === b || (a.elements.size === 0 && b.elements.size === 0)) return [];
  return new Set([...a.elements.keys(), ...b.elements.keys()]);
}

/** Whether an edit by hand was given that stamp, in one of two copies. */
export function isByHand(a: TaskRecord, b: TaskRecord, stamp: number): boolean {
  return [a, b].some(({ hand }) => hand !== undefined && [...hand.values()].includes(stamp));
}

/** The stamps under which copies have taken in the edit that this value is, as their memory of edited lines tells. */
function findTakings(
  copies: readonly TaskRecord[],
  {
    name,
    value,
    seal,
  }: { readonly name: string; readonly value: Element; readonly seal: string | undefined },
): number[] {
  const edits = new Set(copies.flatMap(({ hand }) => [...(hand?.keys() ?? [])]));
  const { hash } = markValue(name, value);
  const isSame = (edit: string): boolean => {
    const [line = '', ...digests] = edit.split(':');
    if (line !== seal && !copies.some(({ hand }) => hand?.get(edit) === value.stamp)) return false;
    const shown = readDigests(digests.join(':'));
    return shown !== undefined && markShown(name, shown, value.stamp).hash === hash;
  };
  return [...edits].filter(isSame).flatMap((edit) => copies.flatMap(({ hand }) => hand?.get(edit) ?? []));
}

/** The values of a place that lost, or were replaced, to the knowledge of a copy. */
function listMarks(record: TaskRecord, name: string): (ValueMark & Pick<Element, 'value'>)[] {
  return [...record.conflicts.elements].flatMap(([key, { value }]) => {
    const { stamp, hash, ...found } = splitConflictKey(key);
    return found.name === name && hash !== undefined ? [{ stamp, hash, value }] : [];
  });
}

/**
 * A line with the edits of a person taken in, with a note of what they replaced: what is known here, where the person saw
 * it, and what Forge wrote there, which the digests of the line tell.
 */
export function noteEdited(
  line: TaskRecord,
  taken: TaskRecord,
  how: {
    readonly known: TaskRecord | undefined;
    readonly written: KnownDigests | undefined;
    /** What stood in the line before, where a person left the file as it is. */
    readonly last: KnownDigests | undefined;
    readonly lost: readonly LostValue[];
  },
): TaskRecord {
  if (line === taken) return taken;
  const { known, written } = how;
  const replaced: Replaced[] = [];
  const unseen = new Set(how.lost.map(({ name }) => name));
  const note = (name: string, shown: Element | undefined, edited: Element): void => {
    const at = edited.stamp;
    const mine = known === undefined ? undefined : valueAt(known, name);
    // Another edit may have the same moment: only the very same value was taken in before.
    if ([shown, mine].some((one) => one?.stamp === at && sameElement(one.value, edited.value))) return;
    // An older one than the line showed is for the join to judge.
    const isSeen = mine !== undefined && mine.stamp >= (shown?.stamp ?? 0) && !unseen.has(name);
    if (isSeen && !sameElement(mine.value ?? null, edited.value ?? null))
      replaced.push({ name, old: markValue(name, mine), at });
    if (written !== undefined && shown !== undefined && shown.stamp < at)
      replaced.push({ name, old: markShown(name, written, shown.stamp), at });
    // An edit that lost stays in the file of its writer, who may go on from there.
    const hash = how.last === undefined ? undefined : markShown(name, how.last, at).hash;
    for (const mark of known === undefined || hash === undefined ? [] : listMarks(known, name))
      if (mark.value !== undefined && mark.hash === hash) replaced.push({ name, old: mark, at });
  };
  for (const [name, edited] of taken.fields) {
    if (!UNJUDGED.has(name)) note(name, line.fields.get(name), edited);
  }
  for (const [key, edited] of taken.metadata.elements) {
    note(`${METADATA}${key}`, elementOf(line.metadata, key), edited);
  }
  return withReplaced(taken, replaced);
}

/** The value of a place as a copy has it. */
export function valueAt(record: TaskRecord, name: string): Element {
  if (name.startsWith(METADATA)) return elementOf(record.metadata, name.slice(METADATA.length));
  return record.fields.get(name) ?? { value: fieldValue(record, name), stamp: record.created };
}
