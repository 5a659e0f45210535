import { identityOf } from '#domain/identity.ts';
import type { TaskGraph } from '#domain/join-graphs.ts';
import { MAP_NAMES, splitDependencyKey, type Life, type TaskRecord } from '#domain/task-record.ts';
import { canonicalJson, type Json } from '#kernel/json.ts';

/**
 * What the join of some files lost, one sentence each. It knows nothing of how a join works: every value of the
 * result must stand in one of the files with the largest stamp that any file has for it, and an id in a reference
 * must still mean the task that it meant in the file it comes from.
 */
export function findLosses(files: readonly TaskGraph[], joined: TaskGraph): string[] {
  const found: string[] = [];
  const results = new Map([...joined.values()].map((record) => [identityOf(record).key, record]));
  const sources = new Map<string, Source[]>();
  for (const file of files) {
    for (const record of file.values()) {
      const { key } = identityOf(record);
      sources.set(key, [...(sources.get(key) ?? []), { record, values: valuesOf(record, file) }]);
    }
  }
  for (const [key, copies] of sources) {
    const result = results.get(key);
    if (result === undefined) {
      found.push(`${copies[0]?.record.id} is gone`);
      continue;
    }
    const say = (what: string): void => void found.push(`${result.id}: ${what}`);
    compareValues(copies, { record: result, values: valuesOf(result, joined) }, say);
    compareComments(copies, result, say);
    for (const { record } of copies) {
      const wrong = findWrongOrder(record.life, result.life);
      if (wrong !== undefined) say(wrong);
    }
    const lives = copies.map(({ record }) => JSON.stringify(record.life));
    if (!lives.includes(JSON.stringify(result.life))) say('a life that nobody wrote');
  }
  if (results.size !== sources.size) found.push(`${sources.size} tasks became ${results.size}`);
  return found;
}

interface Source {
  readonly record: TaskRecord;
  readonly values: ReadonlyMap<string, Written>;
}

interface Written {
  readonly stamp: number;
  /** Canonical JSON; undefined for an element that is absent. */
  readonly text: string | undefined;
}

function compareValues(copies: readonly Source[], result: Source, say: (what: string) => void): void {
  const names = new Set(copies.flatMap(({ values }) => [...values.keys()]));
  for (const name of result.values.keys()) if (!names.has(name)) say(`${name} comes from nowhere`);
  for (const name of names) {
    let last: Written[] = [];
    for (const copy of copies) {
      const written = valueIn(copy, name);
      if (written === undefined || written.stamp < (last[0]?.stamp ?? -1)) continue;
      last = written.stamp === last[0]?.stamp ? [...last, written] : [written];
    }
    const is = valueIn(result, name);
    // At one stamp what is there beats what is not.
    const texts = last.map(({ text }) => text);
    const present = texts.filter((text) => text !== undefined);
    const allowed = present.length > 0 ? present : texts;
    if (is?.stamp !== last[0]?.stamp || !allowed.includes(is?.text)) {
      say(`${name} is ${is?.text} of ${is?.stamp}, not ${allowed.join(' or ')} of ${last[0]?.stamp}`);
    }
  }
}

function valueIn({ record, values }: Source, name: string): Written | undefined {
  const written = values.get(name);
  if (written !== undefined) return written;
  const map = MAP_NAMES.find((candidate) => name.startsWith(`${candidate}.`));
  return map === undefined ? undefined : { stamp: record[map].floor, text: undefined };
}

/** Every single value under a name of its own; references as the task that they mean in this file. */
function valuesOf(record: TaskRecord, file: TaskGraph): Map<string, Written> {
  const meaning = (id: string): string => {
    const target = file.get(id);
    return target === undefined ? `nobody's ${id}` : identityOf(target).key;
  };
  const values = new Map<string, Written>();
  for (const [name, { value, stamp }] of record.fields) {
    const meant: Json = name === 'parent_id' && typeof value === 'string' ? meaning(value) : value;
    values.set(`field ${name}`, { stamp, text: canonicalJson(meant) });
  }
  for (const name of MAP_NAMES) {
    const { floor, elements } = record[name];
    values.set(`floor of ${name}`, { stamp: floor, text: '' });
    for (const [key, { value, stamp }] of elements) {
      const edge = name === 'dependencies' ? splitDependencyKey(key) : undefined;
      const meant = edge === undefined ? key : `${meaning(edge.id)} ${edge.type}`;
      values.set(`${name}.${meant}`, { stamp, text: value === undefined ? undefined : canonicalJson(value) });
    }
  }
  return values;
}

function compareComments(copies: readonly Source[], result: TaskRecord, say: (what: string) => void): void {
  const ids = new Set(copies.flatMap(({ record }) => [...record.comments.keys()]));
  if (ids.size !== result.comments.size) say(`${ids.size} comments became ${result.comments.size}`);
  for (const id of ids) {
    const texts = copies.map(({ record }) => JSON.stringify(record.comments.get(id)));
    const is = JSON.stringify(result.comments.get(id));
    if (is === undefined || !texts.includes(is)) say(`comment ${id} was lost or changed`);
  }
}

/** The rules of the life register, each as a sentence of its own; undefined when `stands` may stand against `other`. */
function findWrongOrder(other: Life, stands: Life): string | undefined {
  if (other.n !== stands.n) return other.n > stands.n ? 'the smaller claim number stands' : undefined;
  if (other.n > 0) {
    const [wasClosed, isClosed] = [other.status === 'closed', stands.status === 'closed'];
    if (wasClosed !== isClosed) return wasClosed ? 'what is not a close beat a close' : undefined;
    if (!isClosed && other.began !== stands.began) {
      return other.began < stands.began ? 'of two claims the later one stands' : undefined;
    }
  }
  return other.written > stands.written ? 'the earlier write of a life stands' : undefined;
}
