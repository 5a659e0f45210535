import { sameElement, sameJson } from './same-value.ts';
import { compareLives, elementOf } from './join-records.ts';
import {
  lastStamp,
  MAP_NAMES,
  type Element,
  type ElementMap,
  type Life,
  type MapName,
  type Register,
  type TaskRecord,
} from './task-record.ts';

/**
 * A line that somebody edited keeps the stamps of what stood there before, so that a join would let the edit lose.
 * `base` is the task as it was known: a value that differs from it under the same stamp is an edit, made at `updated`
 * or right after what it replaces. Where the line is simply older or newer than the base, nothing is touched.
 */
export function stampHandEdits(line: TaskRecord, base: TaskRecord, updated: number): TaskRecord {
  const fields = stampFields(line, base, updated);
  const life = stampLife(line.life, base.life, updated);
  let changed = fields !== line.fields || life !== line.life;
  const maps = {} as Record<MapName, ElementMap>;
  for (const name of MAP_NAMES) {
    maps[name] = stampElements(line[name], base[name], updated);
    changed ||= maps[name] !== line[name];
  }
  return changed ? { ...line, fields, life, ...maps } : line;
}

function stampFields(line: TaskRecord, base: TaskRecord, updated: number): TaskRecord['fields'] {
  let stamped: Map<string, Register> | undefined;
  const reached = lastStamp(base);
  for (const [name, field] of line.fields) {
    const known = base.fields.get(name);
    // A key that is new in a line which the base has outgrown: any copy without it would take it out again.
    const added = known === undefined && field.value !== null && field.stamp <= reached;
    const changed = known?.stamp === field.stamp && !sameJson(known.value, field.value);
    if (!added && !changed) continue;
    stamped ??= new Map(line.fields);
    stamped.set(name, { value: field.value, stamp: Math.max(updated, field.stamp + 1) });
  }
  for (const [name, known] of base.fields) {
    if (line.fields.has(name) || known.value === null || !hadField(line, known.stamp, updated)) continue;
    stamped ??= new Map(line.fields);
    stamped.set(name, { value: null, stamp: Math.max(updated, known.stamp + 1) });
  }
  return stamped ?? line.fields;
}

/**
 * Whether a key that is missing was taken out of the line, or never in it. Where a line lists stamps, a key without
 * one had the stamp of other fields; a line without stamps says all that there is as of its `updated_at`.
 */
function hadField(line: TaskRecord, stamp: number, updated: number): boolean {
  const fields = [...line.fields.values()];
  if (stamp > updated) return false;
  return fields.some((field) => field.stamp === stamp) || fields.every((field) => field.stamp === updated);
}

/** Other tools know no claim numbers: what they write later than a claim, in a line without them, is meant to follow it. */
function stampLife(line: Life, base: Life, updated: number): Life {
  if (sameLife(line, base)) return line;
  const sameStamps = line.n === base.n && line.began === base.began && line.written === base.written;
  const unnumbered = line.n === 0 && base.n > 0 && line.written >= base.written;
  if (!sameStamps && !unnumbered) return line;
  const at = Math.max(updated, base.written + 1, base.began + 1);
  const edited = { ...line, n: base.n + 1, began: at, written: at };
  return compareLives(edited, base) > 0 ? edited : line;
}

function stampElements(line: ElementMap, base: ElementMap, updated: number): ElementMap {
  let elements: Map<string, Element> | undefined;
  const look = (key: string): void => {
    const known = elementOf(base, key);
    const here = elementOf(line, key);
    if (known.stamp !== here.stamp || sameElement(known.value, here.value)) return;
    elements ??= new Map(line.elements);
    elements.set(key, { value: here.value, stamp: Math.max(updated, here.stamp + 1) });
  };
  for (const key of line.elements.keys()) look(key);
  for (const key of base.elements.keys()) if (!line.elements.has(key)) look(key);
  return elements === undefined ? line : { ...line, elements };
}

function sameLife(a: Life, b: Life): boolean {
  return (
    a.status === b.status &&
    a.state === b.state &&
    a.assignee === b.assignee &&
    a.close_reason === b.close_reason &&
    a.closed_at === b.closed_at
  );
}
