import { elementOf, joinRecords } from './join-records.ts';
import { MAP_NAMES, type Element, type ElementMap, type MapName, type TaskRecord } from './task-record.ts';

/**
 * Two copies as one, where both may have taken in the same edit by hand, each at its own moment. What one of them wrote
 * after that came after the edit, also where the other copy saw the edit only later.
 */
export function joinCopies(a: TaskRecord, b: TaskRecord): TaskRecord {
  let [ours, theirs] = [a, b];
  for (const [line, here] of a.hand ?? []) {
    const there = b.hand?.get(line);
    if (there === undefined || there === here) continue;
    if (here > there) theirs = restamp(theirs, ours, { edit: here, own: there });
    else ours = restamp(ours, theirs, { edit: there, own: here });
  }
  return joinRecords(ours, theirs);
}

/** `record` with later stamps where `other` holds but the edit that both took in. */
function restamp(record: TaskRecord, other: TaskRecord, at: { edit: number; own: number }): TaskRecord {
  const isLater = (mine: number, theirs: number): boolean =>
    theirs === at.edit && mine > at.own && mine < at.edit;
  const fields = new Map(record.fields);
  for (const [name, field] of record.fields) {
    if (isLater(field.stamp, other.fields.get(name)?.stamp ?? 0))
      fields.set(name, { ...field, stamp: at.edit + 1 });
  }
  const maps = {} as Record<MapName, ElementMap>;
  for (const name of MAP_NAMES) {
    const elements = new Map<string, Element>(record[name].elements);
    for (const [key, element] of record[name].elements) {
      if (isLater(element.stamp, elementOf(other[name], key).stamp))
        elements.set(key, { ...element, stamp: at.edit + 1 });
    }
    maps[name] = { ...record[name], elements };
  }
  return { ...record, fields, ...maps };
}
