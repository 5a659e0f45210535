import { alignCopies } from './join-copies.ts';
import { compareElements, compareLives, elementOf } from './join-records.ts';
import { lifeValue, splitConflictKey, type LostValue } from './lost-values.ts';
import { digestOfField, fieldIn, readDigests, stateIn } from './record-digests.ts';
import { sameElement } from './same-value.ts';
import { isDeleted, type Element, type TaskRecord } from './task-record.ts';

/**
 * What a store remembers of a value that was last written in it: the stamp of the value of others that it was written
 * over, then those it got here, oldest first. With it two clones can tell what a stamp alone does not: whether the
 * writer of one value had seen the other. That a value was written to a file, or committed, says nothing of it.
 */
export type OwnRun = readonly number[];

/** More rewrites than this, with nothing heard of others between, are taken for the work of a program. */
const LONGEST = 32;
const METADATA = 'metadata.';
const LIFE = 'life';

export interface OwnWrite {
  /** As in LostValue. */
  readonly name: string;
  readonly over: number;
  readonly stamp: number;
}

/** What was written between two states of a task: every single value with a new stamp. */
export function listWrites(before: TaskRecord, after: TaskRecord): OwnWrite[] {
  const writes: OwnWrite[] = [];
  if (before.fields !== after.fields) {
    for (const [name, { stamp }] of after.fields) {
      const over = before.fields.get(name)?.stamp ?? before.created;
      if (stamp !== over) writes.push({ name, over, stamp });
    }
  }
  if (before.metadata !== after.metadata) {
    for (const [key, { stamp }] of after.metadata.elements) {
      const over = elementOf(before.metadata, key).stamp;
      if (stamp !== over) writes.push({ name: `${METADATA}${key}`, over, stamp });
    }
  }
  if (before.life.written !== after.life.written)
    writes.push({ name: LIFE, over: before.life.written, stamp: after.life.written });
  return writes;
}

/** A run goes on as long as nobody else's value came between. */
export function continueRun(run: OwnRun | undefined, { over, stamp }: OwnWrite): OwnRun {
  return (run?.at(-1) === over ? [...run, stamp] : [over, stamp]).slice(-LONGEST);
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
 */
export function judgeOwnValues(
  ours: TaskRecord,
  theirs: TaskRecord,
  runs: ReadonlyMap<string, OwnRun>,
): Judged {
  const lost: LostValue[] = [];
  const unsure: LostValue[] = [];
  // A deletion empties the task; what was edited meanwhile comes back with `forge task restore`.
  if (isDeleted(ours) || isDeleted(theirs)) return { lost, unsure };
  const [alignedOurs, alignedTheirs] = alignCopies(ours, theirs);
  for (const [name, run] of runs) {
    if (name === LIFE) {
      const claim = run.at(-1) === ours.life.written ? findLostLife(ours, theirs) : undefined;
      if (claim !== undefined) lost.push(claim);
      continue;
    }
    const here = valueOf(ours, name);
    const there = valueOf(theirs, name);
    if (here === undefined || there === undefined || run.at(-1) !== here.stamp) continue;
    if (sameElement(here.value, there.value)) continue;
    const isOurs =
      compareElements(valueOf(alignedOurs, name) ?? here, valueOf(alignedTheirs, name) ?? there) < 0;
    const [stands, falls] = isOurs ? [there, here] : [here, there];
    if (falls.value === undefined) continue;
    const found = { name, value: falls.value, stamp: falls.stamp, beaten_at: stands.stamp };
    if (there.stamp === here.stamp) lost.push(found);
    else if (!isOurs && !isKnown(run, there.stamp)) lost.push(found);
    else if (isOurs && !hasTakenInSame(ours, theirs, found)) unsure.push(found);
  }
  const isUntold = ({ name, stamp }: LostValue): boolean =>
    !theirs.conflicts.elements.has(`${name}@${stamp.toString(36)}`);
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
  return listWrites(ours, aligned).filter(({ name, over }) => runs.get(name)?.at(-1) === over);
}

/** Whether a record holds, or once lost, the value of this name and stamp: then whoever wrote it knew of the value. */
export function hasValue(record: TaskRecord, name: string, stamp: number): boolean {
  return (
    valueOf(record, name)?.stamp === stamp || record.conflicts.elements.has(`${name}@${stamp.toString(36)}`)
  );
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
    if (name !== LIFE && runs.get(name)?.[0] === stamp) replaced.push(key);
  }
  return replaced;
}

function isKnown(run: OwnRun, stamp: number): boolean {
  return stamp <= (run[0] ?? 0) || run.includes(stamp);
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
