import { elementOf } from './join-records.ts';
import {
  digestLife,
  digestOfField,
  digestRecord,
  fieldIn,
  readDigests,
  stateIn,
  type KnownDigests,
} from './record-digests.ts';
import { sameElement, sameJson } from './same-value.ts';
import {
  fieldValue,
  MAP_NAMES,
  type ElementMap,
  type MapName,
  type Register,
  type TaskRecord,
} from './task-record.ts';

/** An edit by hand: the seal of the line that was edited, and the digests of what it showed then. */
export interface HandEdit {
  readonly seal: string;
  readonly last: string;
}

/**
 * The edits by hand that `known` took in and still shows, and of which `record` has nothing: neither their value, nor
 * any edit of that line.
 */
export function findUntaken(record: TaskRecord, known: TaskRecord): HandEdit[] {
  const newest = new Map<string, HandEdit & { readonly at: number }>();
  for (const [edit, at] of known.hand ?? []) {
    const end = edit.indexOf(':');
    const [seal, last] = [edit.slice(0, end), edit.slice(end + 1)];
    if (at > (newest.get(seal)?.at ?? -1)) newest.set(seal, { seal, last, at });
  }
  const taken = [...(record.hand?.keys() ?? [])];
  return [...newest.values()].filter(({ seal, last }) => {
    if (seal.startsWith('~') || taken.some((edit) => edit.startsWith(`${seal}:`))) return false;
    const digests = readDigests(last);
    return digests !== undefined && showsOnly(known, record, digests);
  });
}

/**
 * Whether an edited line is an old one to `known`: it took the edit in, later than what stood there before, and then
 * another edit of the same line, which it still shows.
 */
export function isWrittenOver(
  known: TaskRecord,
  { seal, record }: { readonly seal: string; readonly record: TaskRecord },
  before: string,
): boolean {
  const at = known.hand?.get(`${seal}:${digestRecord(record)}`);
  if (at === undefined || (known.hand?.get(`${seal}:${before}`) ?? 0) > at) return false;
  return [...(known.hand ?? [])].some(([edit, later]) => {
    const digests = edit.startsWith(`${seal}:`) && later > at && readDigests(edit.slice(seal.length + 1));
    return digests && showsOnly(known, record, digests);
  });
}

/**
 * An edited line as a later copy left it that knows nothing of the edit: with the values of `after`, as far as Forge has
 * not written them since. Undefined where that is the edited line itself.
 */
export function takeBackEdit(edited: TaskRecord, after: TaskRecord): TaskRecord | undefined {
  let changed = false;
  const fields = new Map(edited.fields);
  for (const name of new Set([...edited.fields.keys(), ...after.fields.keys()])) {
    const [here, there] = [registerOf(edited, name), registerOf(after, name)];
    if (there.stamp !== here.stamp || sameJson(here.value, there.value)) continue;
    fields.set(name, there);
    changed = true;
  }
  const isLifeBack =
    after.life.n === edited.life.n &&
    after.life.written === edited.life.written &&
    digestLife(after.life) !== digestLife(edited.life);
  changed ||= isLifeBack;
  const maps = {} as Record<MapName, ElementMap>;
  for (const name of MAP_NAMES) {
    const elements = new Map(edited[name].elements);
    for (const key of new Set([...elements.keys(), ...after[name].elements.keys()])) {
      const there = after[name].elements.get(key);
      const here = elementOf(edited[name], key);
      const isUntouched = there === undefined || there.stamp === here.stamp;
      if (!isUntouched || sameElement(here.value, there?.value)) continue;
      elements.set(key, { value: there?.value, stamp: here.stamp });
      changed = true;
    }
    maps[name] = { ...edited[name], elements };
  }
  return changed ? { ...edited, fields, life: isLifeBack ? after.life : edited.life, ...maps } : undefined;
}

/** A key that a line lacks, and of which it has no stamp, was never there. */
function registerOf(record: TaskRecord, name: string): Register {
  return record.fields.get(name) ?? { value: fieldValue(record, name), stamp: record.created };
}

/** Whether some value is as the digests say in one of two records, and another in the other. */
function showsOnly(known: TaskRecord, other: TaskRecord, digests: KnownDigests): boolean {
  if (digestLife(known.life) === digests.life && digestLife(other.life) !== digests.life) return true;
  for (const [name, { value }] of known.fields) {
    if (sameJson(value, fieldValue(other, name))) continue;
    if (digestOfField(name, value) === fieldIn(digests, name)) return true;
  }
  return MAP_NAMES.some((name) =>
    [...new Set([...known[name].elements.keys(), ...other[name].elements.keys()])].some((key) => {
      const here = elementOf(known[name], key).value;
      if (sameElement(here, elementOf(other[name], key).value)) return false;
      return stateIn(digests, name, key)(here);
    }),
  );
}
