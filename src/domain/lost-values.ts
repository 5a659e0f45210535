import type { Json } from '#kernel/json.ts';
import { compareElements, compareLives, elementOf } from './join-records.ts';
import {
  digestLife,
  digestOfField,
  digestValue,
  fieldIn,
  metadataIn,
  type KnownDigests,
} from './record-digests.ts';
import { sameJson } from './same-value.ts';
import type { Element, Life, TaskRecord } from './task-record.ts';

/** A value that two sides changed, each without knowing of the other, and that did not stand. */
export interface LostValue {
  /** A field's name, `metadata.<key>`, or `life` for status, owner and closing. */
  readonly name: string;
  readonly value: Json;
  readonly stamp: number;
  /** Of the value that stands. */
  readonly beaten_at: number;
}

/** Of a life that both sides changed since `base`, and differently: the one that does not stand. */
export function findLostLife(base: Life, a: Life, b: Life): LostValue | undefined {
  if (compareLives(a, base) === 0 || compareLives(b, base) === 0) return undefined;
  if (sameJson(lifeValue(a), lifeValue(b))) return undefined;
  const [stands, falls] = compareLives(a, b) >= 0 ? [a, b] : [b, a];
  // A life that is older than what both knew is no news.
  if (compareLives(falls, base) < 0) return undefined;
  return { name: LIFE, value: lifeValue(falls), stamp: falls.written, beaten_at: stands.written };
}

export function lifeValue({ status, state, assignee, close_reason, closed_at }: Life): Json {
  return { status, state, assignee, close_reason, closed_at };
}

/** The record with the lost values kept beside it; one that was settled before stays settled. */
export function keepLostValues(record: TaskRecord, lost: readonly LostValue[]): TaskRecord {
  const { conflicts } = record;
  const elements = new Map<string, Element>(conflicts.elements);
  let changed = false;
  for (const { name, value, stamp } of lost) {
    const key = conflictKey(name, markValue(name, { value, stamp }));
    const former = conflicts.elements.get(stampKey(name, stamp));
    // So it was named before values were told apart; a settled one does not say which it was.
    if (former !== undefined && (former.value === undefined || sameJson(former.value, value))) continue;
    // No later than the value itself: where it was replaced or settled, that is later.
    const kept = { value, stamp: Math.max(stamp, conflicts.floor + 1) };
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
export function conflictKey(name: string, { stamp, hash }: ValueMark): string {
  return `${stampKey(name, stamp)}.${hash}`;
}

function stampKey(name: string, stamp: number): string {
  return `${name}@${stamp.toString(36)}`;
}

/** Whether this very value lost here once, or was replaced; also where that was settled since. */
export function hasLost(record: TaskRecord, name: string, mark: ValueMark): boolean {
  const { elements } = record.conflicts;
  if (elements.size === 0) return false;
  if (elements.has(conflictKey(name, mark))) return true;
  const former = elements.get(stampKey(name, mark.stamp));
  return former !== undefined && (former.value === undefined || hashOf(name, former.value) === mark.hash);
}

/** Which value of a place is meant, without the value: its stamp, and what the digests of a line say of it. */
export interface ValueMark {
  readonly stamp: number;
  readonly hash: string;
}

export function markValue(
  name: string,
  { value, stamp }: { value: Json | undefined; stamp: number },
): ValueMark {
  return { stamp, hash: hashOf(name, value) };
}

function hashOf(name: string, value: Json | undefined): string {
  if (name === LIFE) return digestLife(value as unknown as Life); // as lifeValue gives it
  // A lost value is some value: a key of metadata that was taken out is kept as null.
  if (value === undefined || (value === null && name.startsWith(METADATA))) return GONE;
  return (name.startsWith(METADATA) ? digestValue(value) : digestOfField(name, value)) ?? GONE;
}

/** The same of what a line showed, of which only the digests are known. */
export function markShown(name: string, digests: KnownDigests, stamp: number): ValueMark {
  const hash = name.startsWith(METADATA)
    ? metadataIn(digests, name.slice(METADATA.length))
    : fieldIn(digests, name);
  return { stamp, hash: hash ?? GONE };
}

export const LIFE = 'life';
export const METADATA = 'metadata.';
const GONE = 'gone';

/** The parts of a conflict's key; names may hold an @ or a dot themselves. */
export function splitConflictKey(key: string): { name: string; stamp: number; hash: string | undefined } {
  const at = key.lastIndexOf('@');
  const [stamp = '', hash] = key.slice(at + 1).split('.', 2);
  return { name: key.slice(0, at), stamp: Number.parseInt(stamp, 36), hash };
}
