import { elementOf, joinRecords } from './join-records.ts';
import { conflictKey, splitConflictKey } from './lost-values.ts';
import {
  digestOfField,
  fieldIn,
  hasSameState,
  readDigests,
  stateIn,
  type KnownDigests,
} from './record-digests.ts';
import {
  fieldValue,
  MAP_NAMES,
  type Element,
  type ElementMap,
  type MapName,
  type Register,
  type TaskRecord,
} from './task-record.ts';

/**
 * Two copies as one, where both may have taken in the same edit by hand, each at its own moment. What one of them wrote
 * after that came after the edit, also where the other copy saw the edit only later, or with another edit of that line.
 */
export function joinCopies(a: TaskRecord, b: TaskRecord): TaskRecord {
  return withNotesOfBoth(joinRecords(...alignCopies(a, b)), a, b);
}

/**
 * Of the two moments of an edit the joined copy knows the later one alone. A writer who replaced the edit noted the moment of
 * one copy, so that the note is needed for the other one as well.
 */
function withNotesOfBoth(joined: TaskRecord, a: TaskRecord, b: TaskRecord): TaskRecord {
  const { conflicts, hand } = joined;
  if (hand === undefined || conflicts.elements.size === 0) return joined;
  // Two edits may have one moment in a copy, and two in the other.
  const later = new Map<number, Set<number>>();
  for (const one of [a, b]) {
    for (const [line, at] of one.hand ?? []) {
      const kept = hand.get(line) ?? at;
      if (kept > at) later.set(at, (later.get(at) ?? new Set()).add(kept));
    }
  }
  if (later.size === 0) return joined;
  let elements: Map<string, Element> | undefined;
  for (const [key, element] of conflicts.elements) {
    const { name, stamp, hash } = splitConflictKey(key);
    if (element.value !== undefined || hash === undefined) continue;
    for (const at of later.get(stamp) ?? []) {
      const other = conflictKey(name, { stamp: at, hash });
      if (!conflicts.elements.has(other)) (elements ??= new Map(conflicts.elements)).set(other, element);
    }
  }
  return elements === undefined ? joined : { ...joined, conflicts: { ...conflicts, elements } };
}

/** The same two copies with the stamps by which they are joined. */
export function alignCopies(a: TaskRecord, b: TaskRecord): [TaskRecord, TaskRecord] {
  let [ours, theirs] = [a, b];
  for (const here of listTaken(a)) {
    for (const there of listTaken(b)) {
      if (here.seal !== there.seal || here.at === there.at) continue;
      const [late, early] = here.at > there.at ? [a, there] : [b, here];
      // A copy that knows of both took them in one after the other.
      const isOther = here.text !== there.text;
      if (isOther && late.hand?.has(`${early.seal}:${early.text}`) === true) continue;
      if (here.at > there.at) theirs = restamp(theirs, ours, { late: here, early: there });
      else ours = restamp(ours, theirs, { late: there, early: here });
    }
  }
  return [ours, theirs];
}

interface Taken {
  readonly seal: string;
  readonly text: string;
  readonly digests: KnownDigests;
  readonly at: number;
}

function listTaken({ hand }: TaskRecord): Taken[] {
  return [...(hand ?? [])].flatMap(([line, at]) => {
    const [seal = '', text = ''] = line.split(':');
    const digests = readDigests(text);
    return digests === undefined ? [] : [{ seal, text, digests, at }];
  });
}

/**
 * `record`, which took the edit in early, with later stamps where `other` holds but what both took in. A stamp does not
 * tell that alone: something else may have been written in the same millisecond.
 */
function restamp(
  record: TaskRecord,
  other: TaskRecord,
  { late, early }: { readonly late: Taken; readonly early: Taken },
): TaskRecord {
  const isLater = (mine: number, theirs: number): boolean =>
    theirs === late.at && mine > early.at && mine < late.at;
  let fields: Map<string, Register> | undefined;
  for (const [name, field] of record.fields) {
    if (!isLater(field.stamp, other.fields.get(name)?.stamp ?? 0)) continue;
    const edited = digestOfField(name, fieldValue(other, name));
    if (edited !== fieldIn(late.digests, name) || edited !== fieldIn(early.digests, name)) continue;
    if (edited === undefined && late.text !== early.text) continue;
    fields ??= new Map(record.fields);
    fields.set(name, { ...field, stamp: late.at + 1 });
  }
  let changed = fields !== undefined;
  const maps = {} as Record<MapName, ElementMap>;
  for (const name of MAP_NAMES) {
    let elements: Map<string, Element> | undefined;
    for (const [key, element] of record[name].elements) {
      // Of a task with many lines most elements are ruled out by their own stamp.
      if (element.stamp <= early.at || element.stamp >= late.at) continue;
      const edited = elementOf(other[name], key);
      if (!isLater(element.stamp, edited.stamp) || !stateIn(late.digests, name, key)(edited.value)) continue;
      // That a key is missing in two edits of a line does not mean that both took it out.
      const isSame = edited.value !== undefined && hasSameState(late.digests, early.digests, { name, key });
      if (!isSame && late.text !== early.text) continue;
      elements ??= new Map(record[name].elements);
      elements.set(key, { ...element, stamp: late.at + 1 });
    }
    changed ||= elements !== undefined;
    maps[name] = elements === undefined ? record[name] : { ...record[name], elements };
  }
  // The same record where nothing is to do: a fold tells by that whether a task changed.
  return changed ? { ...record, ...(fields !== undefined && { fields }), ...maps } : record;
}
