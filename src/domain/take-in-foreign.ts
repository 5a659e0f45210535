import { stampHandEdits } from './hand-edits.ts';
import { compareElements, compareLives, compareRegisters, elementOf, joinHands } from './join-records.ts';
import { lifeValue, type LostValue } from './lost-values.ts';
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
import type { EditedLine, EditedWhere, TakenIn } from './taken-in.ts';
import {
  fieldValue,
  lastStamp,
  MAP_NAMES,
  type Element,
  type ElementMap,
  type MapName,
  type TaskRecord,
} from './task-record.ts';

/**
 * Only a comparison with the task as it is known can tell; what other tools write counts as of its `updated_at`. Where the
 * store can say what the task once was, nothing that loses by that is dropped without a word, and a line that only
 * repeats how the task once stood takes no claim away.
 */
export function takeInForeign(line: EditedLine, { known, now, past }: EditedWhere, shows: string): TakenIn {
  const { seal, updated } = line;
  const record = withMissing(line, known);
  const moment = seal.startsWith('~') ? updated : Math.max(now, updated);
  const stamped = known === undefined ? record : stampHandEdits(record, known, moment);
  if (known === undefined || line.unstamped === undefined || past === undefined) {
    if (stamped === record) return { record, lost: [], is_back: false };
    return { record: withTaken(stamped, `${seal}:${shows}`, lastStamp(stamped)), lost: [], is_back: false };
  }
  const states = past().flatMap((digests) => readDigests(digests) ?? []);
  const wasSo = states.some((state) => state.life === digestLife(record.life));
  const life = wasSo && known.life.n > 0 ? known.life : stamped.life;
  const taken = stamped === record ? record : withTaken(stamped, `${seal}:${shows}`, lastStamp(stamped));
  const foreign = { ...taken, life, ...(!isForeign(known) && withKnownElements(taken, known, states)) };
  return { record: foreign, lost: findForeignLosses(foreign, known, states), is_back: false };
}

/** An older file that git brought: what it shows of the past takes back nothing that was written since. */
export function withoutOld(line: EditedLine, { past }: EditedWhere, known: TaskRecord): EditedLine {
  const states = past?.().flatMap((digests) => readDigests(digests) ?? []) ?? [];
  const { record } = line;
  const fields = new Map(record.fields);
  for (const [name, field] of known.fields) {
    const digest = digestOfField(name, fieldValue(record, name));
    if (states.some((state) => fieldIn(state, name) === digest)) fields.set(name, field);
  }
  const elements = new Map(record.metadata.elements);
  for (const [key, element] of known.metadata.elements) {
    const { value } = elementOf(record.metadata, key);
    if (states.some((state) => stateIn(state, 'metadata', key)(value))) elements.set(key, element);
  }
  return { ...line, record: { ...record, fields, metadata: { ...record.metadata, elements } } };
}

/** A usual key that a line without stamps lacks is as it is known. */
function withMissing({ record, unstamped }: EditedLine, known: TaskRecord | undefined): TaskRecord {
  const missing = unstamped?.missing;
  if (known === undefined || missing === undefined || missing.size === 0) return record;
  const fields = new Map(record.fields);
  for (const [name, field] of known.fields) if (missing.has(name)) fields.set(name, field);
  const maps = {} as Record<MapName, ElementMap>;
  for (const name of MAP_NAMES) maps[name] = (missing.has(name) ? known : record)[name];
  return { ...record, fields, ...maps };
}

function findForeignLosses(
  line: TaskRecord,
  known: TaskRecord,
  states: readonly KnownDigests[],
): LostValue[] {
  const lost: LostValue[] = [];
  const own = !isForeign(known);
  for (const [name, mine] of line.fields) {
    const theirs = known.fields.get(name);
    if (theirs === undefined || sameJson(mine.value, theirs.value)) continue;
    const [stands, falls] = compareRegisters(mine, theirs) > 0 ? [mine, theirs] : [theirs, mine];
    const digest = digestOfField(name, mine.value);
    const isOld = states.some((state) => fieldIn(state, name) === digest);
    if (falls === theirs ? own : !isOld)
      lost.push({ name, value: falls.value, stamp: falls.stamp, beaten_at: stands.stamp });
  }
  for (const [key, theirs] of known.metadata.elements) {
    const mine = elementOf(line.metadata, key);
    if (!own || theirs.value === undefined || sameElement(mine.value, theirs.value)) continue;
    if (compareElements(mine, theirs) <= 0) continue;
    const at = { stamp: theirs.stamp, beaten_at: mine.stamp };
    lost.push({ name: `metadata.${key}`, value: theirs.value, ...at });
  }
  const isTaken = known.life.n > 0 && compareLives(line.life, known.life) > 0;
  if (isTaken && !sameJson(lifeValue(line.life), lifeValue(known.life))) {
    const at = { stamp: known.life.written, beaten_at: line.life.written };
    lost.push({ name: 'life', value: lifeValue(known.life), ...at });
  }
  return lost;
}

/**
 * A line that may never have had a label or an edge takes none away: `forge conflicts` could not show it. One that the task
 * once had, and that was taken out, the line only repeats.
 */
function withKnownElements(
  line: TaskRecord,
  known: TaskRecord,
  states: readonly KnownDigests[],
): Pick<TaskRecord, 'labels' | 'dependencies'> {
  const both = (name: 'labels' | 'dependencies'): ElementMap => {
    const isRepeated = ([key, { value }]: readonly [string, Element]): boolean =>
      known[name].elements.has(key) &&
      elementOf(known[name], key).value === undefined &&
      states.some((state) => stateIn(state, name, key)(value));
    const theirs = [...line[name].elements].filter((one) => !isRepeated(one));
    return { floor: known[name].floor, elements: new Map([...known[name].elements, ...theirs]) };
  };
  return { labels: both('labels'), dependencies: both('dependencies') };
}

/** Whether all that is known came with a line of another tool, which has one moment for everything. */
function isForeign(known: TaskRecord): boolean {
  const { fields, life, created } = known;
  const values = [fields, ...MAP_NAMES.map((name) => known[name].elements)].flatMap((map) => [
    ...map.values(),
  ]);
  return life.written !== created && values.every(({ stamp }) => stamp === life.written);
}

/** Whether a copy has taken in this very edit. */
export function hasTaken(
  { hand }: TaskRecord,
  { seal, record }: Pick<EditedLine, 'seal' | 'record'>,
): boolean {
  return hand?.has(`${seal}:${digestRecord(record)}`) === true;
}

export function withTaken(record: TaskRecord, line: string, at: number): TaskRecord {
  return { ...record, hand: joinHands(record.hand, new Map([[line, at]])) };
}
