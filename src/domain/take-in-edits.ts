import type { Status } from '#contract/task.ts';
import type { Json } from '#kernel/json.ts';
import { LIMITS } from '#kernel/limits.ts';
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
import { countMade, MADE_AGAIN, nameMade } from './made-edits.ts';
import { noteEdited } from './replaced-values.ts';
import { defaultState } from './states.ts';
import { sameElement, sameJson } from './same-value.ts';
import { takeInForeign, withoutOld, withTaken } from './take-in-foreign.ts';
import type { EditedLine, EditedWhere, ShownState, TakenIn } from './taken-in.ts';
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

export type { EditedLine, EditedWhere, ShownState, TakenIn } from './taken-in.ts';

/**
 * A person who edits a line leaves its stamps, so that a join would let the edit lose. The digests in the line tell
 * which values are not the ones that were written under those stamps; they count as changed `now`, when they are first
 * seen. What was taken in is remembered with the task, by the seal of the edited line, so that no copy of the line is
 * taken in twice.
 */
export function takeInEdits(line: EditedLine, where: EditedWhere): TakenIn {
  const taken = stampEdits(line, where);
  const written = readDigests(line.written ?? '');
  const last = where.by_hand === false ? undefined : readDigests(where.last ?? '');
  const { known } = where;
  const how = { known, written, last, lost: taken.lost };
  const missing = line.unstamped?.missing;
  // The one moment of a line without stamps is that of its newest value, and tells nothing of the others.
  const isUndated = missing !== undefined && known !== undefined && where.shown !== undefined;
  const shown = isUndated ? withoutStamps(line.record, known, missing) : line.record;
  return { ...taken, record: noteEdited(shown, taken.record, how) };
}

function stampEdits(line: EditedLine, where: EditedWhere): TakenIn {
  const { record, seal, updated } = line;
  const { known, last } = where;
  if (line.unstamped !== undefined && known !== undefined && where.shown !== undefined) {
    const before = readDigests(where.shown.digests);
    if (before !== undefined)
      return takeInUnstamped(line, where, { known, base: before, shown: where.shown });
  }
  const shows = digestRecord(record);
  const taken = takenOf(known, seal);
  const was = where.by_hand === true ? last : undefined;
  const base = readDigests(was ?? line.written ?? last ?? '');
  if (base === undefined) return takeInForeign(line, where, shows);
  const is_back = where.by_hand !== true && last !== undefined && isBack(record, taken, { base, last });
  if (known !== undefined && isUnclear(line, where, shows)) return { record: known, lost: [], is_back: true };
  const lost: LostValue[] = [];
  const least = Math.max(where.now, updated, lastStamp(record) + 1, ...taken.map((one) => one.at + 1));
  const seen = was !== undefined ? [] : taken.flatMap(({ digests }) => readDigests(digests) ?? []);
  const written = readDigests(line.written ?? '')?.life;
  // What git brought was edited by a person who saw what Forge wrote, not what stood in this file before.
  const saw = where.by_hand === false ? base : (readDigests(last ?? '') ?? base);
  const looks = { record, known, base, written, seen, saw };
  const at = Math.min(laterThanSeen(looks, least), LIMITS.stamp_max_ms - 1);
  const edit: Edit = { ...looks, at, lost };
  const fields = editFields(edit);
  const life = editLife(edit);
  let changed = fields !== record.fields || (life !== record.life && life !== known?.life);
  const maps = {} as Record<MapName, ElementMap>;
  for (const name of MAP_NAMES) {
    maps[name] = editMap(edit, name);
    changed ||= maps[name] !== record[name];
  }
  const edited = changed || life !== record.life ? { ...record, life, fields, ...maps } : record;
  if (!changed) return { record: edited, lost, is_back };
  // One that was taken in before keeps its moment: other copies know it by that.
  const first = known?.hand?.get(`${seal}:${shows}`) ?? at;
  // A person who went on in this file knew the edits before it; of two copies that tells who wrote upon what.
  const hand = was === undefined ? record.hand : joinHands(record.hand, known?.hand);
  return { record: withTaken({ ...edited, hand }, `${seal}:${shows}`, first), lost, is_back };
}

/**
 * Whether one edit stands where another stood: the same person went on, or git brought what another person made of the
 * same line. Only the first has seen what stood there, so that it is asked which of them it was.
 */
function isUnclear({ written }: EditedLine, { by_hand, last }: EditedWhere, shows: string): boolean {
  if (by_hand !== undefined || written === undefined || last === undefined) return false;
  return last !== written && last !== shows && shows !== written;
}

/** Whether something is not as the line last showed it, and yet as it, or another edit of it, showed it before. */
function isBack(
  record: TaskRecord,
  taken: readonly { digests: string }[],
  { base, last }: { readonly base: KnownDigests; readonly last: string },
): boolean {
  const was = readDigests(last);
  if (was === undefined || last === digestRecord(record)) return false;
  const seen = [base, ...taken.flatMap(({ digests }) => readDigests(digests) ?? [])];
  return listStates(record, was).some((isIn) => !isIn(was) && seen.some(isIn));
}

/** A question for each value of the record, and for each that it lacks: whether digests say the same of it. */
function listStates(record: TaskRecord, was: KnownDigests): ((digests: KnownDigests) => boolean)[] {
  const shows = readDigests(digestRecord(record));
  if (shows === undefined) return [];
  const single = (['life', 'title', 'description', 'priority', 'type'] as const).map(
    (name) => (digests: KnownDigests) => digests[name] === shows[name],
  );
  const sets = (['labels', 'edges', 'conflicts'] as const).flatMap((name) =>
    [...new Set([...shows[name], ...was[name]])].map(
      (one) => (digests: KnownDigests) => digests[name].has(one) === shows[name].has(one),
    ),
  );
  const pairs = (['fields', 'metadata'] as const).flatMap((name) =>
    [...new Set([...shows[name].keys(), ...was[name].keys()])].map(
      (one) => (digests: KnownDigests) => digests[name].get(one) === shows[name].get(one),
    ),
  );
  return [...single, ...sets, ...pairs];
}

interface Edit {
  readonly record: TaskRecord;
  readonly known: TaskRecord | undefined;
  /** What Forge wrote there, or what stood there last. */
  readonly base: KnownDigests;
  /** The digest of the life that Forge wrote there. */
  readonly written: string | undefined;
  /** What the person had before their eyes. */
  readonly saw: KnownDigests;
  /** What other edits of the same line showed, which are taken in already. */
  readonly seen: readonly KnownDigests[];
  readonly at: number;
  readonly lost: LostValue[];
}

function takenOf(known: TaskRecord | undefined, seal: string): { digests: string; at: number }[] {
  const taken = [];
  for (const [line, at] of known?.hand ?? []) {
    if (line.startsWith(`${seal}:`)) taken.push({ digests: line.slice(seal.length + 1), at });
  }
  return taken;
}

/**
 * A line that lost its stamps: only what differs from what the file showed before is an edit, the rest of the line is old
 * and says nothing. With a newer `updated_at` it counts as of then. Without one it may be a person's, who counts from now,
 * or an older file that git brought.
 */
function takeInUnstamped(
  line: EditedLine,
  where: EditedWhere,
  { known, base, shown }: { known: TaskRecord; base: KnownDigests; shown: ShownState },
): TakenIn {
  const { record, seal, updated } = line;
  const shows = digestRecord(record);
  const quiet: TakenIn = { record: { ...known, comments: record.comments }, lost: [], is_back: false };
  if (shows === shown.digests) return quiet;
  // Taken in before, and something else since: a person may have made the same edit once more.
  const isKnown = known.hand?.has(`${seal}:${shows}`) === true;
  if (isKnown && where.by_hand !== true) return { ...quiet, is_back: where.by_hand === undefined };
  const isNewer = updated > shown.updated;
  if (!isNewer && where.by_hand === undefined) return { ...quiet, is_back: true };
  if (!isNewer && where.by_hand !== true) return takeInForeign(withoutOld(line, where, known), where, shows);
  const bare = withoutStamps(record, known, line.unstamped?.missing ?? new Set());
  const looks = { record: bare, known, base, written: undefined, seen: [], saw: base };
  const lost: LostValue[] = [];
  // A script that leaves the time alone wrote after it: the newest value of the line is of that very moment.
  const after = Math.min(updated + 1, LIMITS.stamp_max_ms - 1);
  const edit: Edit = { ...looks, at: laterThanSeen(looks, isNewer ? after : where.now), lost };
  const fields = new Map(known.fields);
  for (const [name, field] of editFields(edit)) if (field.stamp === edit.at) fields.set(name, field);
  const edited = editLife(edit);
  const maps = {} as Record<MapName, ElementMap>;
  for (const name of MAP_NAMES) {
    const elements = new Map(known[name].elements);
    for (const [key, element] of editMap(edit, name).elements) {
      if (element.stamp === edit.at) elements.set(key, element);
    }
    maps[name] = { ...known[name], elements };
  }
  const life = edited === bare.life ? known.life : edited;
  const taken = { ...quiet.record, fields, life, ...maps };
  const times = countMade(known, { seal, shows });
  // Once more what stands already: a new moment would be later than what other copies wrote upon the first one.
  if (times > 0 && digestRecord(taken) === digestRecord(known)) return quiet;
  // The first one keeps its moment, by which other copies know it.
  const name = nameMade({ seal, shows }, Math.min(times + 1, MADE_AGAIN));
  return { record: withTaken(taken, name, known.hand?.get(name) ?? edit.at), lost, is_back: false };
}

/** Older than all: a line without stamps does not tell what it knew. A usual key that it lacks is as it is known. */
function withoutStamps(record: TaskRecord, known: TaskRecord, missing: ReadonlySet<string>): TaskRecord {
  const fields = new Map<string, Register>();
  for (const [name, { value }] of record.fields) {
    fields.set(name, { value: missing.has(name) ? fieldValue(known, name) : value, stamp: -1 });
  }
  const maps = {} as Record<MapName, ElementMap>;
  for (const name of MAP_NAMES) {
    const elements = new Map<string, Element>();
    const from = missing.has(name) ? known : record;
    for (const [key, { value }] of from[name].elements) elements.set(key, { value, stamp: -1 });
    maps[name] = { floor: -1, elements };
  }
  return { ...record, fields, ...maps };
}

/** As by a command: later than what it was written over, where the person saw that. Another edit may have come as quickly. */
function laterThanSeen({ record, known, saw }: Omit<Edit, 'at' | 'lost'>, least: number): number {
  let at = least;
  for (const [name, { value, stamp }] of known?.fields ?? []) {
    const digest = digestOfField(name, value);
    if (digest === fieldIn(saw, name) && digest !== digestOfField(name, fieldValue(record, name)))
      at = Math.max(at, stamp + 1);
  }
  for (const name of MAP_NAMES) {
    for (const [key, { value, stamp }] of known?.[name].elements ?? []) {
      if (stateIn(saw, name, key)(value) && !sameElement(value, elementOf(record[name], key).value))
        at = Math.max(at, stamp + 1);
    }
  }
  return at;
}

function editFields({ record, known, base, seen, saw, at, lost }: Edit): TaskRecord['fields'] {
  let fields: Map<string, Register> | undefined;
  for (const name of new Set([...FIELD_NAMES, ...record.fields.keys(), ...(known?.fields.keys() ?? [])])) {
    const here = record.fields.get(name);
    const value = fieldValue(record, name);
    const digest = digestOfField(name, value);
    if (fieldIn(base, name) === digest) continue;
    const theirs = known?.fields.get(name);
    if (seen.some((one) => fieldIn(one, name) === digest)) {
      // Taken in before: the line shows it under the stamp of what it replaced.
      if (theirs !== undefined) (fields ??= new Map(record.fields)).set(name, theirs);
      continue;
    }
    const mine: Register = { value, stamp: at };
    fields ??= new Map(record.fields);
    fields.set(name, mine);
    if (theirs === undefined || theirs.stamp < (here?.stamp ?? 0) || sameJson(theirs.value, value)) continue;
    if (digestOfField(name, theirs.value) === fieldIn(saw, name)) continue;
    const [stands, falls] = compareRegisters(mine, theirs) > 0 ? [mine, theirs] : [theirs, mine];
    lost.push({ name, value: falls.value, stamp: falls.stamp, beaten_at: stands.stamp });
  }
  return fields ?? record.fields;
}

function editMap({ record, known, base, seen, saw, at, lost }: Edit, name: MapName): ElementMap {
  const map = record[name];
  let elements: Map<string, Element> | undefined;
  for (const key of new Set([...map.elements.keys(), ...(known?.[name].elements.keys() ?? [])])) {
    const here = elementOf(map, key);
    const isIn = (digests: KnownDigests, value: Json | undefined): boolean =>
      stateIn(digests, name, key)(value);
    if (isIn(base, here.value)) continue;
    const theirs = known === undefined ? undefined : elementOf(known[name], key);
    if (seen.some((one) => isIn(one, here.value))) {
      if (name === 'metadata' && theirs !== undefined) (elements ??= new Map(map.elements)).set(key, theirs);
      continue;
    }
    const mine: Element = { value: here.value, stamp: at };
    elements ??= new Map(map.elements);
    elements.set(key, mine);
    if (name !== 'metadata' || theirs?.value === undefined || theirs.stamp < here.stamp) continue;
    if (isIn(saw, theirs.value) || sameElement(theirs.value, here.value)) continue;
    const [stands, falls] = compareElements(mine, theirs) > 0 ? [mine, theirs] : [theirs, mine];
    if (falls.value === undefined) continue;
    lost.push({ name: `metadata.${key}`, value: falls.value, stamp: falls.stamp, beaten_at: stands.stamp });
  }
  return elements === undefined ? map : { ...map, elements };
}

/** The number rises as by a command: over what was seen, and no further, so that a claim elsewhere is met as by a claim. */
function editLife({ record, known, base, written, seen, saw, at, lost }: Edit): Life {
  const { life } = record;
  const digest = digestLife(life);
  if (digest === base.life) return life;
  // Taken in already, so that it would count again: of lives the number decides, not the time.
  if (known !== undefined && seen.some((one) => one.life === digest)) return known.life;
  // An edit before this one may have left the state of the line behind, too.
  const hasSeen =
    known !== undefined &&
    [known.life.state, life.state].some((state) => digestLife({ ...known.life, state }) === saw.life);
  const isLeft = digest !== written && isLeftBehind(life, base, known?.life);
  const mine: Life = {
    ...life,
    state: isLeft ? defaultState(life.status, life.close_reason) : life.state,
    n: 1 + (hasSeen ? Math.max(life.n, known.life.n) : life.n),
    began: at,
    written: at,
  };
  if (known === undefined || hasSeen || known.life.n < life.n) return mine;
  if (sameJson(lifeValue(known.life), lifeValue(life))) return mine;
  const [stands, falls] = compareLives(mine, known.life) > 0 ? [mine, known.life] : [known.life, mine];
  lost.push({ name: 'life', value: lifeValue(falls), stamp: falls.written, beaten_at: stands.written });
  return mine;
}

/**
 * Whether a person changed the status and left the state that went with the one before: then the state follows. The
 * digest tells, where the other values are as they were; else the task as it is known.
 */
function isLeftBehind(life: Life, base: KnownDigests, known: Life | undefined): boolean {
  if (known !== undefined && known.state === life.state && known.status !== life.status) return true;
  return STATUSES.some((status) => {
    const closing = status === 'closed' ? {} : { close_reason: null, closed_at: null };
    return status !== life.status && digestLife({ ...life, status, ...closing }) === base.life;
  });
}

const STATUSES: readonly Status[] = ['open', 'in_progress', 'closed'];
