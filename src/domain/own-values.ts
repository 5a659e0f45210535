import { compareLives } from './join-records.ts';
import { hasLost, LIFE, lifeValue, markValue, type LostValue, type ValueMark } from './lost-values.ts';
import { sameJson } from './same-value.ts';
import type { Life, TaskRecord } from './task-record.ts';

/**
 * What a store remembers of status, owner and closing where it wrote them last: what it was written over, then what it
 * wrote here, oldest first. With it two clones can tell whether the writer of one had seen the other. Other values carry
 * that with them (replaced-values.ts); these change with every step of the work, and would make each line longer.
 */
export type OwnRun = readonly ValueMark[];

/** More rewrites than this, with nothing heard of others between, are taken for the work of a program. */
const LONGEST = 32;

export interface OwnWrite {
  readonly over: ValueMark;
  readonly mark: ValueMark;
}

/** Undefined where status, owner and closing were not written between two states of a task. */
export function findLifeWrite(before: TaskRecord, after: TaskRecord): OwnWrite | undefined {
  if (before.life.written === after.life.written) return undefined;
  return { over: markLife(before.life), mark: markLife(after.life) };
}

function markLife(life: Life): ValueMark {
  return markValue(LIFE, { value: lifeValue(life), stamp: life.written });
}

/** Whether two marks mean one value; what older programs noted has no hash. */
function isSameMark(a: ValueMark | undefined, b: ValueMark): boolean {
  return a !== undefined && a.stamp === b.stamp && (a.hash === b.hash || a.hash === '' || b.hash === '');
}

/** A run goes on as long as no value of another clone came between. */
export function continueRun(run: OwnRun | undefined, { over, mark }: OwnWrite): OwnRun {
  return (run !== undefined && isSameMark(run.at(-1), over) ? [...run, mark] : [over, mark]).slice(-LONGEST);
}

export interface Judged {
  /** Of two lives each was written without knowledge of the other. */
  readonly lost?: LostValue | undefined;
  /** One fell whose writer is not known here; the writer of the one that stands may have seen it. */
  readonly unsure?: LostValue | undefined;
  /** What that one fell against. */
  readonly stands?: ValueMark | undefined;
  /** Which of the two fell then. */
  readonly falls?: 'ours' | 'theirs' | undefined;
}

/**
 * Holds the life of another copy of the task against the one here. Two that follow the same one were written without
 * each other. Else a life that falls against one of this store was never seen by it if it is none of the run, and later
 * than what the run was written over. The other way round only the history that the copy comes from can tell. Of two that
 * others wrote that holds both ways, and it is asked only where the copy comes from `elsewhere`, not from this checkout.
 */
export function judgeLives(
  ours: TaskRecord,
  theirs: TaskRecord,
  run: OwnRun | undefined,
  elsewhere = false,
): Judged {
  const [here, there] = [ours.life, theirs.life];
  if (here === there || sameJson(lifeValue(here), lifeValue(there))) return {};
  const isOurs = compareLives(here, there) < 0;
  const [stands, falls] = isOurs ? [there, here] : [here, there];
  if (isFirst(ours, falls) || isFirst(ours, stands)) return {};
  const found = {
    name: LIFE,
    value: lifeValue(falls),
    stamp: falls.written,
    beaten_at: stands.written,
  };
  if (hasLost(theirs, LIFE, markLife(falls)) || hasLost(ours, LIFE, markLife(falls))) return {};
  if (here.n === there.n && here.n > 0 && here.began !== there.began) return { lost: found };
  const isOwn = run !== undefined && isSameMark(run.at(-1), markLife(here));
  const unsure = { unsure: found, stands: markLife(stands), falls: isOurs ? 'ours' : 'theirs' } as const;
  if (!isOwn) return elsewhere ? unsure : {};
  if (isOurs) return unsure;
  return isKnown(run, there) ? {} : { lost: found };
}

/** What the task was made with: all who have it have seen that. */
function isFirst({ created }: TaskRecord, { n, written }: Life): boolean {
  return n === 0 && written === created;
}

function isKnown(run: OwnRun, life: Life): boolean {
  return life.written < (run[0]?.stamp ?? 0) || run.some((known) => isSameMark(known, markLife(life)));
}

/** Whether a record holds, or once lost, this life: then its writer knew of it. */
export function hasLife(record: TaskRecord, mark: ValueMark): boolean {
  return isSameMark(mark, markLife(record.life)) || hasLost(record, LIFE, mark);
}
