import type { Status } from '#contract/task.ts';
import type { Json } from '#kernel/json.ts';
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
import { defaultState } from './states.ts';
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

/** A line that may have been edited: it does not fit its seal, has none, or an edit of it is known. */
export interface EditedLine {
  readonly record: TaskRecord;
  /** Names the line that was edited: its seal, or `~` and its `updated_at`. */
  readonly seal: string;
  /** The digests of what Forge wrote there; undefined for lines of other tools and of older versions. */
  readonly written: string | undefined;
  readonly updated: number;
}

export interface EditedWhere {
  readonly known: TaskRecord | undefined;
  readonly now: number;
  /** The digests of the same line when the same file was last looked at. */
  readonly last?: string | undefined;
  /** A person, not git, left the file as it is: then all that is not as it was last is an edit. */
  readonly by_hand?: boolean | undefined;
}

export interface TakenIn {
  /** The line, with a stamp of its own on every value that was edited. */
  readonly record: TaskRecord;
  /** Values that the person who edited the line had not seen, and that do not stand; or the edit, where they stand. */
  readonly lost: readonly LostValue[];
  /** It shows again what it once showed: changed back by hand, or an older file that git brought. */
  readonly is_back: boolean;
}

/**
 * A person who edits a line leaves its stamps, so that a join would let the edit lose. The digests in the line tell
 * which values are not the ones that were written under those stamps; they count as changed `now`, when they are first
 * seen. What was taken in is remembered with the task, by the seal of the edited line, so that no copy of the line is
 * taken in twice.
 */
export function takeInEdits(line: EditedLine, where: EditedWhere): TakenIn {
  const { record, seal, updated } = line;
  const { known, last } = where;
  const shows = digestRecord(record);
  const taken = takenOf(known, seal);
  const was = where.by_hand === true ? last : undefined;
  const base = readDigests(was ?? line.written ?? last ?? '');
  if (base === undefined) return takeInForeign(line, where, shows);
  const is_back = where.by_hand !== true && last !== undefined && isBack(record, taken, { base, last });
  const lost: LostValue[] = [];
  const least = Math.max(where.now, updated, lastStamp(record) + 1, ...taken.map((one) => one.at + 1));
  const seen = was !== undefined ? [] : taken.flatMap(({ digests }) => readDigests(digests) ?? []);
  const written = readDigests(line.written ?? '')?.life;
  const looks = { record, known, base, written, seen, saw: readDigests(last ?? '') ?? base };
  const at = laterThanSeen(looks, least);
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
  return { record: withTaken(edited, `${seal}:${shows}`, first), lost, is_back };
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

/** Only a comparison with the task as it is known can tell; what other tools write counts as of its `updated_at`. */
function takeInForeign(
  { record, seal, updated }: EditedLine,
  { known, now }: EditedWhere,
  shows: string,
): TakenIn {
  const moment = seal.startsWith('~') ? updated : Math.max(now, updated);
  const stamped = known === undefined ? record : stampHandEdits(record, known, moment);
  if (stamped === record) return { record, lost: [], is_back: false };
  return { record: withTaken(stamped, `${seal}:${shows}`, lastStamp(stamped)), lost: [], is_back: false };
}

function withTaken(record: TaskRecord, line: string, at: number): TaskRecord {
  return { ...record, hand: joinHands(record.hand, new Map([[line, at]])) };
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
    if ([base, ...seen].some((one) => fieldIn(one, name) === digest)) continue;
    const mine: Register = { value, stamp: at };
    fields ??= new Map(record.fields);
    fields.set(name, mine);
    const theirs = known?.fields.get(name);
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
    if ([base, ...seen].some((one) => isIn(one, here.value))) continue;
    const mine: Element = { value: here.value, stamp: at };
    elements ??= new Map(map.elements);
    elements.set(key, mine);
    const theirs = known === undefined ? undefined : elementOf(known[name], key);
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
