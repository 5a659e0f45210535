import { identityOf } from '#domain/identity.ts';
import { compareElements, compareLives, compareRegisters } from '#domain/join-records.ts';
import { decodeRecord } from '#domain/record-codec.ts';
import {
  MAP_NAMES,
  splitDependencyKey,
  type Element,
  type Life,
  type Register,
  type StoredComment,
  type TaskRecord,
} from '#domain/task-record.ts';
import { canonicalJson, type Json } from '#kernel/json.ts';
import type { Replication } from '#store/replication.ts';

/** Everything that a store would export, by the identity of its tasks: names may change when two are told apart. */
export interface SyncState {
  readonly tasks: ReadonlyMap<string, TaskRecord>;
  /** The identity of each name. */
  readonly names: ReadonlyMap<string, string>;
  readonly moves: ReadonlySet<string>;
  readonly lines: readonly string[];
}

/** One value that must not be lost, and its place. */
export interface Fact {
  readonly task: string;
  readonly place: string;
  readonly value: Value;
}

type Value =
  | { readonly of: 'life'; readonly life: Life }
  | { readonly of: 'field'; readonly register: Register }
  | { readonly of: 'element'; readonly element: Element }
  | { readonly of: 'comment'; readonly comment: StoredComment }
  | { readonly of: 'floor'; readonly stamp: number };

export async function readState(store: Replication): Promise<SyncState> {
  const lines: string[] = [];
  const moves: string[] = [];
  // A file that the store never saw has no lines that it could not read.
  for await (const part of store.exportTasks('')) lines.push(...part.lines.map(String));
  for await (const part of store.exportHistory('')) moves.push(...part.lines.map(String));
  return toState(lines, moves);
}

export function toState(lines: readonly string[], moves: readonly string[]): SyncState {
  const tasks = new Map<string, TaskRecord>();
  const names = new Map<string, string>();
  for (const line of lines) {
    const record = decodeRecord(JSON.parse(line) as Json);
    const { key } = identityOf(record);
    if (tasks.has(key)) throw new Error(`${record.id} is there under two names`);
    tasks.set(key, record);
    names.set(record.id, key);
  }
  const named = moves.map((line) => {
    const move = JSON.parse(line) as { task: string };
    return JSON.stringify({ ...move, task: toBirth(names.get(move.task) ?? move.task) });
  });
  return { tasks, names, moves: new Set(named), lines };
}

export function listFacts(state: SyncState): Fact[] {
  return [...state.tasks].flatMap(([task, record]) =>
    [...placesOf(record, state)].map(([place, value]) => ({ task, place, value })),
  );
}

/** The facts of `after` that `before` does not have in the same form: what one operation wrote. */
export function listNews(before: SyncState, after: SyncState): Fact[] {
  const known = new Map(listFacts(before).map((fact) => [keyOf(fact), canonical(fact.value)]));
  return listFacts(after).filter((fact) => known.get(keyOf(fact)) !== canonical(fact.value));
}

/** The facts that the state holds neither as they are nor by something that outranks them. */
export function findMissing(facts: Iterable<Fact>, state: SyncState): Fact[] {
  const places = new Map<string, Map<string, Value>>();
  return [...facts].filter(({ task, place, value }) => {
    const record = state.tasks.get(task);
    if (record === undefined) return true;
    let known = places.get(task);
    if (known === undefined) places.set(task, (known = placesOf(record, state)));
    return !candidates(known, record, place).some((found) => outranks(found, value));
  });
}

export function describeFact({ task, place, value }: Fact): string {
  return `${task.split('\n').join(' ')} · ${place} · ${canonical(value)}`;
}

export function keyOf({ task, place }: Fact): string {
  return `${task}\0${place}`;
}

function placesOf(record: TaskRecord, { names }: SyncState): Map<string, Value> {
  const places = new Map<string, Value>([['life', { of: 'life', life: record.life }]]);
  for (const [name, register] of record.fields) {
    const isReference = name === 'parent_id' && typeof register.value === 'string';
    const value = isReference ? toReference(names, register.value as string) : register.value;
    places.set(`field ${name}`, { of: 'field', register: { ...register, value } });
  }
  for (const name of MAP_NAMES) {
    places.set(`floor ${name}`, { of: 'floor', stamp: record[name].floor });
    for (const [key, element] of record[name].elements) {
      const place = `${name} ${name === 'dependencies' ? toEdge(names, key) : key}`;
      const there = places.get(place);
      if (there?.of === 'element' && compareElements(there.element, element) >= 0) continue;
      places.set(place, { of: 'element', element });
    }
  }
  for (const comment of record.comments.values())
    places.set(`comment ${comment.id}`, { of: 'comment', comment });
  return places;
}

/** What may stand for a place: itself, an absence by the floor, and an edge whose end has got its name since. */
function candidates(known: ReadonlyMap<string, Value>, record: TaskRecord, place: string): Value[] {
  const found = [known.get(place)];
  for (const name of MAP_NAMES) {
    if (place.startsWith(`${name} `)) {
      found.push({ of: 'element', element: { stamp: record[name].floor, value: undefined } });
    }
  }
  if (place.startsWith('dependencies ') && !place.includes('\n')) {
    for (const [other, value] of known) if (toBirthPlace(other) === place) found.push(value);
  }
  return found.filter((value) => value !== undefined);
}

function outranks(found: Value, wanted: Value): boolean {
  if (found.of === 'life' && wanted.of === 'life') return compareLives(found.life, wanted.life) >= 0;
  if (found.of === 'element' && wanted.of === 'element')
    return compareElements(found.element, wanted.element) >= 0;
  if (found.of === 'field' && wanted.of === 'field') {
    const [a, b] = [found.register, wanted.register];
    const names = [a.value, b.value].map((value) => (typeof value === 'string' ? toBirth(value) : undefined));
    const sameTask = a.stamp === b.stamp && names[0] !== undefined && names[0] === names[1];
    return sameTask || compareRegisters(a, b) >= 0;
  }
  if (found.of === 'comment' && wanted.of === 'comment') return found.comment.body >= wanted.comment.body;
  return found.of === 'floor' && wanted.of === 'floor' && found.stamp >= wanted.stamp;
}

function toReference(names: ReadonlyMap<string, string>, id: string): string {
  return names.get(id) ?? id;
}

function toEdge(names: ReadonlyMap<string, string>, key: string): string {
  const { id, type } = splitDependencyKey(key);
  return `${type} ${toReference(names, id)}`;
}

function toBirthPlace(place: string): string {
  return place.split('\n', 1)[0] ?? place;
}

/** The id that a task was born with, of its identity or of what never was resolved. */
function toBirth(reference: string): string {
  return reference.split('\n', 1)[0] ?? reference;
}

function canonical(value: Value): string {
  return canonicalJson(JSON.parse(JSON.stringify(value)) as Json);
}
