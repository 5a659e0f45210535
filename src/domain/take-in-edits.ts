import type { Json } from '#kernel/json.ts';
import { stampHandEdits } from './hand-edits.ts';
import { compareElements, compareLives, compareRegisters, elementOf, joinHands } from './join-records.ts';
import { lifeValue, type LostValue } from './lost-values.ts';
import {
  digestElement,
  digestLife,
  digestName,
  digestRecord,
  digestValue,
  readDigests,
  type KnownDigests,
} from './record-digests.ts';
import { sameElement, sameJson } from './same-value.ts';
import {
  fieldValue,
  FIELD_NAMES,
  lastStamp,
  MAP_NAMES,
  type Element,
  type ElementMap,
  type Life,
  type MapName,
  type Register,
  type TaskRecord,
} from './task-record.ts';

/** A line that does not fit its seal, or has none. */
export interface EditedLine {
  readonly record: TaskRecord;
  /** Names the line that was edited: its seal, or `~` and its `updated_at`. */
  readonly seal: string;
  /** The digests of what Forge wrote there; undefined for lines of other tools and of older versions. */
  readonly written: string | undefined;
  readonly updated: number;
}

export interface TakenIn {
  /** The line, with a stamp of its own on every value that was edited. */
  readonly record: TaskRecord;
  /** Values that the person who edited the line had not seen, and that do not stand; or the edit, where they stand. */
  readonly lost: readonly LostValue[];
}

/**
 * Somebody who edits a line leaves its stamps, so that a join would let the edit lose. The digests in the line tell
 * which values are not the ones that were written under those stamps; they count as changed `now`, when they are first
 * seen. What was taken in before is remembered with the task, by the seal of the edited line: the same edit is not
 * taken in twice, and the next one of the same line is seen.
 */
export function takeInEdits(line: EditedLine, known: TaskRecord | undefined, now: number): TakenIn {
  const { record, seal, updated } = line;
  const before = known?.hand?.get(seal);
  const base = readDigests(before?.digests ?? line.written ?? '');
  const shows = digestRecord(record);
  if (base === undefined) return takeInForeign(line, known, { now, shows });
  if (shows === (before?.digests ?? line.written)) {
    // Its claims and moves would count again: of lives the number decides, not the time.
    return { record: before === undefined ? record : withKnownLife(record, known), lost: [] };
  }
  const at = Math.max(now, updated, lastStamp(record) + 1, (before?.at ?? 0) + 1);
  const lost: LostValue[] = [];
  const edit: Edit = { record, known, base, at, lost };
  const maps = {} as Record<MapName, ElementMap>;
  for (const name of MAP_NAMES) maps[name] = editMap(edit, name);
  const edited = { ...record, life: editLife(edit, before !== undefined), fields: editFields(edit), ...maps };
  return { record: withTaken(edited, seal, { at, digests: shows }), lost };
}

interface Edit {
  readonly record: TaskRecord;
  readonly known: TaskRecord | undefined;
  /** What the person had before their eyes. */
  readonly base: KnownDigests;
  readonly at: number;
  readonly lost: LostValue[];
}

/** Only a comparison with the task as it is known can tell; what other tools write counts as of its `updated_at`. */
function takeInForeign(
  { record, seal, updated }: EditedLine,
  known: TaskRecord | undefined,
  { now, shows }: { now: number; shows: string },
): TakenIn {
  if (known === undefined) return { record, lost: [] };
  const moment = seal.startsWith('~') ? updated : Math.max(now, updated);
  const stamped = stampHandEdits(record, known, moment);
  if (stamped === record) return { record, lost: [] };
  return { record: withTaken(stamped, seal, { at: lastStamp(stamped), digests: shows }), lost: [] };
}

function withTaken(record: TaskRecord, seal: string, taken: { at: number; digests: string }): TaskRecord {
  return { ...record, hand: joinHands(record.hand, new Map([[seal, taken]])) };
}

function withKnownLife(record: TaskRecord, known: TaskRecord | undefined): TaskRecord {
  return known === undefined ? record : { ...record, life: known.life };
}

function editFields({ record, known, base, at, lost }: Edit): TaskRecord['fields'] {
  const fields = new Map(record.fields);
  for (const name of new Set([...FIELD_NAMES, ...record.fields.keys(), ...(known?.fields.keys() ?? [])])) {
    const here = record.fields.get(name);
    const value = fieldValue(record, name);
    if (digestOf(name, value) === baseOf(base, name)) continue;
    const mine: Register = { value, stamp: at };
    fields.set(name, mine);
    const theirs = known?.fields.get(name);
    if (theirs === undefined || theirs.stamp < (here?.stamp ?? 0) || sameJson(theirs.value, value)) continue;
    if (digestOf(name, theirs.value) === baseOf(base, name)) continue;
    const [stands, falls] = compareRegisters(mine, theirs) > 0 ? [mine, theirs] : [theirs, mine];
    lost.push({ name, value: falls.value, stamp: falls.stamp, beaten_at: stands.stamp });
  }
  return fields;
}

/** Undefined for a value that is as good as not there. */
function digestOf(name: string, value: Json): string | undefined {
  switch (name) {
    case 'title':
    case 'description':
      return digestText(value);
    case 'priority':
      return String(value as number); // decoded as such
    case 'type':
      return (value as string)[0];
    default:
      return value === null ? undefined : digestValue(value);
  }
}

function baseOf(base: KnownDigests, name: string): string | undefined {
  if (name === 'title' || name === 'description' || name === 'priority' || name === 'type') return base[name];
  return base.fields.get(digestName(name));
}

function digestText(value: Json): string {
  return digestName(typeof value === 'string' ? value : '');
}

function editMap({ record, known, base, at, lost }: Edit, name: MapName): ElementMap {
  const map = record[name];
  let elements: Map<string, Element> | undefined;
  for (const key of new Set([...map.elements.keys(), ...(known?.[name].elements.keys() ?? [])])) {
    const here = elementOf(map, key);
    const seen = seenIn(base, name, key);
    if (seen(here.value)) continue;
    const theirs = known === undefined ? undefined : elementOf(known[name], key);
    // The digest of a key that is missing here and was never known there cannot be told from none.
    elements ??= new Map(map.elements);
    const mine: Element = { value: here.value, stamp: at };
    elements.set(key, mine);
    if (name !== 'metadata' || theirs?.value === undefined || theirs.stamp < here.stamp) continue;
    if (seen(theirs.value) || sameElement(theirs.value, here.value)) continue;
    const [stands, falls] = compareElements(mine, theirs) > 0 ? [mine, theirs] : [theirs, mine];
    if (falls.value === undefined) continue;
    lost.push({ name: `metadata.${key}`, value: falls.value, stamp: falls.stamp, beaten_at: stands.stamp });
  }
  return elements === undefined ? map : { ...map, elements };
}

/** Whether a value of the key, or its absence, is what stood in the line. */
function seenIn(base: KnownDigests, name: MapName, key: string): (value: Json | undefined) => boolean {
  if (name === 'metadata') {
    const was = base.metadata.get(digestName(key));
    return (value) => (value === undefined ? undefined : digestValue(value)) === was;
  }
  if (name === 'dependencies') {
    return (value) => base.edges.has(digestElement(key, value ?? true)) === (value !== undefined);
  }
  const had = base[name].has(digestElement(key, true));
  return (value) => had === (value !== undefined);
}

/** The number rises as by a command: over what was seen, and no further, so that a claim elsewhere is met as by a claim. */
function editLife({ record, known, base, at, lost }: Edit, isAgain: boolean): Life {
  const { life } = record;
  if (digestLife(life) === base.life) return isAgain ? (known?.life ?? life) : life;
  const hasSeen = known !== undefined && digestLife(known.life) === base.life;
  const n = hasSeen ? Math.max(life.n, known.life.n) : life.n + Number(isAgain);
  const mine: Life = { ...life, n: n + 1, began: at, written: at };
  if (known === undefined || hasSeen || known.life.n < life.n) return mine;
  if (sameJson(lifeValue(known.life), lifeValue(life))) return mine;
  const [stands, falls] = compareLives(mine, known.life) > 0 ? [mine, known.life] : [known.life, mine];
  lost.push({ name: 'life', value: lifeValue(falls), stamp: falls.written, beaten_at: stands.written });
  return mine;
}
