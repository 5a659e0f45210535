import { sameElement, sameJson } from './same-value.ts';
import { compareLives, elementOf } from './join-records.ts';
import {
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
  for (const [name, field] of line.fields) {
    const known = base.fields.get(name);
    if (known === undefined || known.stamp !== field.stamp || sameJson(known.value, field.value)) continue;
    stamped ??= new Map(line.fields);
    stamped.set(name, { value: field.value, stamp: Math.max(updated, field.stamp + 1) });
  }
  // A key that was taken out of a line without stamps is an edit too.
  for (const [name, known] of base.fields) {
    if (line.fields.has(name) || known.value === null || known.stamp > updated) continue;
    stamped ??= new Map(line.fields);
    stamped.set(name, { value: null, stamp: Math.max(updated, known.stamp + 1) });
  }
  return stamped ?? line.fields;
}

/** Other tools know no claim numbers: what they write later than a claim, in a line without them, is meant to follow it. */
function stampLife(line: Life, base: Life, updated: number): Life {
  if (sameLife(line, base)) return line;
  const sameStamps = line.n === base.n && line.began === base.began && line.written === base.written;
  const unnumbered = line.n === 0 && base.n > 0 && updated > base.written;
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
