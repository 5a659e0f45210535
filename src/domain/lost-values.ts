import { shortHash } from '#kernel/checksum.ts';
import { canonicalJson, type Json } from '#kernel/json.ts';
import { compareElements, compareLives, compareRegisters, elementOf } from './join-records.ts';
import { sameElement, sameJson } from './same-value.ts';
import { isDeleted, type Element, type Life, type TaskRecord } from './task-record.ts';

/** A value that two sides changed, each without knowing of the other, and that did not stand. */
export interface LostValue {
  /** A field's name, `metadata.<key>`, or `life` for status, owner and closing. */
  readonly name: string;
  readonly value: Json;
  readonly stamp: number;
  /** Of the value that stands. */
  readonly beaten_at: number;
}

/** What both sides changed since `base`, and differently: the join takes one and these are the others. */
export function findLostValues(base: TaskRecord, a: TaskRecord, b: TaskRecord): LostValue[] {
  const lost: LostValue[] = [];
  for (const [name, ours] of a.fields) {
    const theirs = b.fields.get(name);
    const old = base.fields.get(name)?.stamp ?? -1;
    if (theirs === undefined || ours.stamp <= old || theirs.stamp <= old) continue;
    if (sameJson(ours.value, theirs.value)) continue;
    const wins = compareRegisters(ours, theirs) >= 0;
    const [stands, falls] = wins ? [ours, theirs] : [theirs, ours];
    // The emptiness that a deletion wrote is no value that somebody would want back.
    if (isEmptied(wins ? b : a, falls.stamp)) continue;
    lost.push({ name, value: falls.value, stamp: falls.stamp, beaten_at: stands.stamp });
  }
  // Of both: a deletion lists no element and still says of each that it is gone.
  for (const key of new Set([...a.metadata.elements.keys(), ...b.metadata.elements.keys()])) {
    const ours = elementOf(a.metadata, key);
    const theirs = elementOf(b.metadata, key);
    const old = elementOf(base.metadata, key).stamp;
    if (ours.stamp <= old || theirs.stamp <= old || sameElement(ours.value, theirs.value)) continue;
    const [stands, falls] = compareElements(ours, theirs) >= 0 ? [ours, theirs] : [theirs, ours];
    if (falls.value === undefined) continue;
    lost.push({
      name: `metadata.${key}`,
      value: falls.value,
      stamp: falls.stamp,
      beaten_at: stands.stamp,
    });
  }
  const life = findLostLife(base.life, a.life, b.life);
  return life === undefined ? lost : [...lost, life];
}

function isEmptied(record: TaskRecord, stamp: number): boolean {
  return isDeleted(record) && record.fields.get('deleted_at')?.stamp === stamp;
}

function findLostLife(base: Life, a: Life, b: Life): LostValue | undefined {
  if (compareLives(a, base) === 0 || compareLives(b, base) === 0) return undefined;
  if (sameJson(lifeValue(a), lifeValue(b))) return undefined;
  const [stands, falls] = compareLives(a, b) >= 0 ? [a, b] : [b, a];
  // A life that is older than what both knew is no news.
  if (compareLives(falls, base) < 0) return undefined;
  return { name: 'life', value: lifeValue(falls), stamp: falls.written, beaten_at: stands.written };
}

export function lifeValue({ status, state, assignee, close_reason, closed_at }: Life): Json {
  return { status, state, assignee, close_reason, closed_at };
}

/** The record with the lost values kept beside it; one that was settled before stays settled. */
export function keepLostValues(record: TaskRecord, lost: readonly LostValue[]): TaskRecord {
  const { conflicts } = record;
  const elements = new Map<string, Element>(conflicts.elements);
  let changed = false;
  for (const { name, value, stamp, beaten_at } of lost) {
    const key = conflictKey(name, { value, stamp });
    const former = conflicts.elements.get(stampKey(name, stamp));
    // So it was named before values were told apart; a settled one does not say which it was.
    if (former !== undefined && (former.value === undefined || sameJson(former.value, value))) continue;
    const kept = { value, stamp: Math.max(stamp, beaten_at, conflicts.floor + 1) };
    if (compareElements(kept, elementOf(conflicts, key)) <= 0) continue;
    elements.set(key, kept);
    changed = true;
  }
  return changed ? { ...record, conflicts: { ...conflicts, elements } } : record;
}

/**
 * Under which a lost value is kept. A stamp alone does not name it: clones whose clocks are behind a task all give their
 * next change the stamp after its last one.
 */
export function conflictKey(
  name: string,
  { value, stamp }: { value: Json | undefined; stamp: number },
): string {
  return `${stampKey(name, stamp)}.${hashValue(value)}`;
}

function stampKey(name: string, stamp: number): string {
  return `${name}@${stamp.toString(36)}`;
}

/** Tells values of one stamp apart. */
export function hashValue(value: Json | undefined): string {
  return value === undefined ? 'gone' : shortHash(canonicalJson(value));
}

/** Whether this very value lost here once; also where it was settled since. */
export function hasLost(record: TaskRecord, name: string, { stamp, hash }: ValueMark): boolean {
  const { elements } = record.conflicts;
  if (elements.has(`${stampKey(name, stamp)}.${hash}`)) return true;
  const former = elements.get(stampKey(name, stamp));
  return former !== undefined && (former.value === undefined || hashValue(former.value) === hash);
}

/** Which value of a place is meant, without the value. */
export interface ValueMark {
  readonly stamp: number;
  readonly hash: string;
}

export function markValue({ value, stamp }: { value?: Json | undefined; stamp: number }): ValueMark {
  return { stamp, hash: hashValue(value) };
}

/** The parts of a conflict's key; names may hold an @ or a dot themselves. */
export function splitConflictKey(key: string): { name: string; stamp: number } {
  const at = key.lastIndexOf('@');
  const [stamp = ''] = key.slice(at + 1).split('.', 1);
  return { name: key.slice(0, at), stamp: Number.parseInt(stamp, 36) };
}
