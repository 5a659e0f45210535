import { alignCopies } from './join-copies.ts';
import { compareElements, compareLives, elementOf } from './join-records.ts';
import {
  hashValue,
  hasLost,
  lifeValue,
  markValue,
  splitConflictKey,
  type LostValue,
  type ValueMark,
} from './lost-values.ts';
import { digestOfField, fieldIn, readDigests, stateIn } from './record-digests.ts';
import { sameElement } from './same-value.ts';
import { fieldValue, isDeleted, type Element, type TaskRecord } from './task-record.ts';

/**
 * What a store remembers of a value that was last written in it: the value of others that it was written over, then
 * those it got here, oldest first. With it two clones can tell what a stamp alone does not: whether the writer of one
 * value had seen the other. That a value was written to a file, or committed, says nothing of it.
 */
export type OwnRun = readonly ValueMark[];

/** More rewrites than this, with nothing heard of others between, are taken for the work of a program. */
const LONGEST = 32;
const METADATA = 'metadata.';
const LIFE = 'life';

export interface OwnWrite {
  /** As in LostValue. */
  readonly name: string;
  readonly over: ValueMark;
  readonly mark: ValueMark;
}

/** What was written between two states of a task. A value of the same millisecond has the stamp of the one it replaced. */
export function listWrites(before: TaskRecord, after: TaskRecord): OwnWrite[] {
  const writes: OwnWrite[] = [];
  if (before.fields !== after.fields) {
    for (const [name, field] of after.fields) {
      const over = before.fields.get(name) ?? { value: fieldValue(before, name), stamp: before.created };
      if (!isSameValue(field, over)) writes.push({ name, over: markValue(over), mark: markValue(field) });
    }
  }
  if (before.metadata !== after.metadata) {
    for (const [key, element] of after.metadata.elements) {
      const over = elementOf(before.metadata, key);
      if (!isSameValue(element, over))
        writes.push({ name: `${METADATA}${key}`, over: markValue(over), mark: markValue(element) });
    }
  }
  if (before.life.written !== after.life.written)
    writes.push({ name: LIFE, over: markLife(before), mark: markLife(after) });
  return writes;
}

function isSameValue(a: Element, b: Element): boolean {
  return a.stamp === b.stamp && sameElement(a.value, b.value);
}

function markLife({ life }: TaskRecord): ValueMark {
  return markValue({ value: lifeValue(life), stamp: life.written });
}

/** Whether two marks mean one value; what older programs noted has no hash. */
function isSameMark(a: ValueMark | undefined, b: ValueMark): boolean {
  return a !== undefined && a.stamp === b.stamp && (a.hash === b.hash || a.hash === '' || b.hash === '');
}

/** A run goes on as long as nobody else's value came between. */
export function continueRun(run: OwnRun | undefined, { over, mark }: OwnWrite): OwnRun {
  return (run !== undefined && isSameMark(run.at(-1), over) ? [...run, mark] : [over, mark]).slice(-LONGEST);
}

export interface Judged {
  /** Of two values each was written without knowledge of the other. */
  readonly lost: readonly LostValue[];
  /** Values of this store that fell; the writer of those that stand may have seen them. */
  readonly unsure: readonly LostValue[];
}

/**
 * Holds another copy of the task against what was written here. A value that falls against one of this store was never
 * seen by it if it is none of the run, and later than what the run was written over. The other way round only the
 * history that the copy comes from can tell. Values that came from elsewhere are for the clones to judge that wrote them.
 * A copy that was edited by hand may show a new value under the stamp of the old one.
 */
export function judgeOwnValues(
  ours: TaskRecord,
  theirs: TaskRecord,
  runs: ReadonlyMap<string, OwnRun>,
  how: { readonly is_edited: boolean } = { is_edited: false },
): Judged {
  const lost: LostValue[] = [];
  const unsure: LostValue[] = [];
  // A deletion empties the task; what was edited meanwhile comes back with `forge task restore`.
  if (isDeleted(ours) || isDeleted(theirs)) return { lost, unsure };
  const [alignedOurs, alignedTheirs] = alignCopies(ours, theirs);
  for (const [name, run] of runs) {
    if (name === LIFE) {
      const claim = run.at(-1)?.stamp === ours.life.written ? findLostLife(ours, theirs) : undefined;
      if (claim !== undefined) lost.push(claim);
      continue;
    }
    const here = valueOf(ours, name);
    const there = valueOf(theirs, name);
    if (here === undefined || there === undefined || !isSameMark(run.at(-1), markValue(here))) continue;
    if (sameElement(here.value, there.value)) continue;
    const isOurs =
      compareElements(valueOf(alignedOurs, name) ?? here, valueOf(alignedTheirs, name) ?? there) < 0;
    const [stands, falls] = isOurs ? [there, here] : [here, there];
    if (falls.value === undefined) continue;
    const found = { name, value: falls.value, stamp: falls.stamp, beaten_at: stands.stamp };
    if (there.stamp === here.stamp) lost.push(found);
    else if (!isOurs && !isKnown(run, there, how)) lost.push(found);
    else if (isOurs && !hasTakenInSame(ours, theirs, found)) unsure.push(found);
  }
  const isUntold = (one: LostValue): boolean => !hasLost(theirs, one.name, markValue(one));
  return { lost, unsure: unsure.filter(isUntold) };
}

/** What a join gave a later stamp, because the other copy took in an edit by hand later: it is still this store's. */
export function listRestamped(
  ours: TaskRecord,
  theirs: TaskRecord,
  runs: ReadonlyMap<string, OwnRun>,
): OwnWrite[] {
  const [aligned] = alignCopies(ours, theirs);
  if (aligned === ours) return [];
  return listWrites(ours, aligned).filter(({ name, over }) => isSameMark(runs.get(name)?.at(-1), over));
}

/** Whether a record holds, or once lost, this value: then its writer knew of the value. */
export function hasValue(record: TaskRecord, name: string, mark: ValueMark): boolean {
  const value = valueOf(record, name);
  return (value !== undefined && isSameMark(mark, markValue(value))) || hasLost(record, name, mark);
}

/**
 * The keys of conflicts of another copy that are none: their values were replaced here, where they were seen. Earlier
 * values of this store are not looked for: another's may have got its stamp in the same millisecond.
 */
export function findReplaced(
  ours: TaskRecord,
  theirs: TaskRecord,
  runs: ReadonlyMap<string, OwnRun>,
): string[] {
  const replaced: string[] = [];
  for (const [key, { value }] of theirs.conflicts.elements) {
    if (value === undefined || ours.conflicts.elements.has(key)) continue;
    const { name, stamp } = splitConflictKey(key);
    if (name !== LIFE && isSameMark(runs.get(name)?.[0], markValue({ value, stamp }))) replaced.push(key);
  }
  return replaced;
}

function isKnown(
  run: OwnRun,
  { value, stamp }: Element,
  { is_edited }: { readonly is_edited: boolean },
): boolean {
  const first = run[0]?.stamp ?? 0;
  if (stamp < first || (is_edited && stamp === first)) return true;
  return run.some((known) => isSameMark(known, { stamp, hash: hashValue(value) }));
}

/** An edit by hand that both copies took in, each at its own moment. Something else may have that stamp, too. */
function hasTakenInSame(ours: TaskRecord, theirs: TaskRecord, { name, stamp, value }: LostValue): boolean {
  return [...(ours.hand ?? [])].some(([line, at]) => {
    if (at !== stamp || theirs.hand?.has(line) !== true) return false;
    const shows = readDigests(line.slice(line.indexOf(':') + 1));
    if (shows === undefined) return false;
    if (name.startsWith(METADATA)) return stateIn(shows, 'metadata', name.slice(METADATA.length))(value);
    return fieldIn(shows, name) === digestOfField(name, value);
  });
}

function valueOf(record: TaskRecord, name: string): Element | undefined {
  if (!name.startsWith(METADATA)) return record.fields.get(name);
  return elementOf(record.metadata, name.slice(METADATA.length));
}

/** Two claims with the same number: neither knew of the other. */
function findLostLife({ life: here }: TaskRecord, { life: there }: TaskRecord): LostValue | undefined {
  if (here.n !== there.n || here.n === 0 || here.assignee === there.assignee) return undefined;
  if (here.status !== 'in_progress' || there.status !== 'in_progress') return undefined;
  const [stands, falls] = compareLives(here, there) >= 0 ? [here, there] : [there, here];
  return { name: LIFE, value: lifeValue(falls), stamp: falls.written, beaten_at: stands.written };
}
