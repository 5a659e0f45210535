import { isDeepStrictEqual } from 'node:util';
import { compareLives } from '#domain/join-records.ts';
import { MAP_NAMES, type ElementMap, type Life, type TaskRecord } from '#domain/task-record.ts';
import { canonicalJson, type Json } from '#kernel/json.ts';

/**
 * What an operation broke, one sentence each. The law behind it: joining the record before with the record
 * after gives the record after. At the level of stamps that means: what changed got a later stamp, what did
 * not change kept its own, and nothing disappeared.
 */
export function findDeflations(
  before: TaskRecord,
  after: TaskRecord,
  operation: { writesAll?: boolean } = {},
): string[] {
  const found: string[] = [];
  if (after === before) return found;
  for (const key of ['id', 'created_at', 'created_by'] as const) {
    if (after[key] !== before[key]) found.push(`${key} changed`);
  }
  const old = registersOf(before);
  const now = registersOf(after);
  let changes = 0;
  for (const name of new Set([...old.keys(), ...now.keys()])) {
    const was = old.get(name) ?? absent(before, name);
    const is = now.get(name) ?? absent(after, name);
    if (was.value !== is.value) {
      changes += 1;
      if (is.stamp <= was.stamp)
        found.push(`${name} changed, but its stamp went from ${was.stamp} to ${is.stamp}`);
    } else if (isNote(name, is.value) && is.stamp >= was.stamp) {
      continue;
    } else if (is.stamp < was.stamp || (is.stamp > was.stamp && operation.writesAll !== true)) {
      found.push(`${name} did not change, but its stamp went from ${was.stamp} to ${is.stamp}`);
    }
  }
  for (const [id, comment] of before.comments) {
    if (!isDeepStrictEqual(after.comments.get(id), comment)) found.push(`comment ${id} was lost or changed`);
  }
  if (after.comments.size !== before.comments.size) changes += 1;
  const { changed, wrong } = judgeLife(before.life, after.life);
  if (changed) changes += 1;
  if (changes === 0) found.push('nothing changed, but the record is another object');
  return [...found, ...wrong];
}

/** That a value was replaced is written among the conflicts, as one that is settled. */
function isNote(name: string, value: string | undefined): boolean {
  return name.startsWith('conflicts ') && value === undefined;
}

function judgeLife(was: Life, is: Life): { changed: boolean; wrong: string[] } {
  const wrong: string[] = [];
  const content = (life: Life): Json => [
    life.status,
    life.state,
    life.assignee,
    life.close_reason,
    life.closed_at,
  ];
  const changed = !isDeepStrictEqual(content(was), content(is));
  if (!changed) {
    if (!isDeepStrictEqual(was, is)) wrong.push('life did not change, but its stamps did');
    return { changed, wrong };
  }
  if (is.written <= was.written)
    wrong.push(`life changed, but was written at ${is.written} after ${was.written}`);
  if (compareLives(is, was) <= 0) wrong.push('life changed, but the old one outranks it');
  const begins = beginning(was, is);
  if (begins !== undefined) {
    if (is.n !== was.n + 1) wrong.push(`a ${begins} took n from ${was.n} to ${is.n}`);
    if (is.began <= was.written || is.began <= was.began) wrong.push(`a ${begins} began before what it ends`);
    if (is.began > is.written) wrong.push(`a ${begins} began after it was written`);
  } else if (is.n !== was.n || is.began !== was.began) {
    wrong.push(`a move took n from ${was.n} to ${is.n} and began from ${was.began} to ${is.began}`);
  }
  return { changed, wrong };
}

/** The four that begin a life of their own; undefined for a release and every other move. */
function beginning(was: Life, is: Life): 'claim' | 'takeover' | 'close' | 'reopen' | undefined {
  if (is.status === 'closed') return was.status === 'closed' ? undefined : 'close';
  if (was.status === 'closed') return 'reopen';
  if (is.status === 'in_progress' && was.status === 'open') return 'claim';
  return is.status === 'in_progress' && is.assignee !== was.assignee ? 'takeover' : undefined;
}

interface Stamped {
  readonly value: string | undefined;
  readonly stamp: number;
}

/** Every register but life under a name of its own; a map's floor is `labels` alone. */
function registersOf(record: TaskRecord): Map<string, Stamped> {
  const all = new Map<string, Stamped>();
  for (const [name, { value, stamp }] of record.fields)
    all.set(`field ${name}`, { value: canonicalJson(value), stamp });
  for (const map of MAP_NAMES) {
    all.set(map, { value: undefined, stamp: record[map].floor });
    for (const [key, { value, stamp }] of record[map].elements) {
      all.set(`${map} ${key}`, { value: value === undefined ? undefined : canonicalJson(value), stamp });
    }
  }
  return all;
}

/** A field nobody wrote is null since ever; an element nobody lists is absent since its map's floor. */
function absent(record: TaskRecord, name: string): Stamped {
  const map = MAP_NAMES.find((candidate) => name.startsWith(`${candidate} `));
  const floor = (elements: ElementMap): number => elements.floor;
  return map === undefined ? { value: 'null', stamp: -1 } : { value: undefined, stamp: floor(record[map]) };
}
