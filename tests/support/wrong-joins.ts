// The parts of the mistakes in join-mutants.ts: each does one thing as it must not be done.
import { birthOf, identityOf } from '#domain/identity.ts';
import { findSharedBirths, renameTask, tellApart, type TaskGraph } from '#domain/join-graphs.ts';
import { compareLives, joinRecords } from '#domain/join-records.ts';
import {
  FIELD_DEFAULTS,
  isDeleted,
  lastStamp,
  MAP_NAMES,
  type Element,
  type ElementMap,
  type Life,
  type MapName,
  type Register,
  type TaskRecord,
} from '#domain/task-record.ts';
import { FORGE, type World } from './join-world.ts';

export function withJoin(join: World['joinRecords']): World {
  const apart = (a: TaskGraph, b: TaskGraph, shared: ReadonlySet<string>): [TaskGraph, TaskGraph] => [
    tellApart(a, shared),
    tellApart(b, shared),
  ];
  return { ...FORGE, joinRecords: join, joinGraphs: graphJoin(join, apart) };
}

type TellBothApart = (a: TaskGraph, b: TaskGraph, shared: ReadonlySet<string>) => [TaskGraph, TaskGraph];

export function withNames(names: TellBothApart): World {
  return { ...FORGE, joinGraphs: graphJoin(joinRecords, names) };
}

function graphJoin(join: World['joinRecords'], names: TellBothApart): World['joinGraphs'] {
  return (a, b) => {
    const [ours, theirs] = names(a, b, findSharedBirths(a, b));
    const joined = new Map(ours);
    for (const [id, record] of theirs) {
      const there = joined.get(id);
      joined.set(id, there === undefined ? record : join(there, record));
    }
    return joined;
  };
}

export function withLife(life: (a: Life, b: Life) => Life): World['joinRecords'] {
  return (a, b) => ({ ...joinRecords(a, b), life: life(a.life, b.life) });
}

export function withMaps(join: (a: ElementMap, b: ElementMap) => ElementMap): World['joinRecords'] {
  return (a, b) => mapElements(joinRecords(a, b), (_map, name) => join(a[name], b[name]));
}

export function withJoinedMaps(
  after: (joined: ElementMap, a: ElementMap, b: ElementMap) => ElementMap,
): World['joinRecords'] {
  return (a, b) => mapElements(joinRecords(a, b), (joined, name) => after(joined, a[name], b[name]));
}

function mapElements(record: TaskRecord, to: (map: ElementMap, name: MapName) => ElementMap): TaskRecord {
  const maps = {} as Record<MapName, ElementMap>;
  for (const name of MAP_NAMES) maps[name] = to(record[name], name);
  return { ...record, ...maps };
}

export function later(a: Life, b: Life): Life {
  return compareLives(a, b) >= 0 ? a : b;
}

export function lastWritten(a: Life, b: Life): Life {
  return a.written > b.written ? a : b;
}

export function earlierWriteStands(a: Life, b: Life): Life {
  return a.n === b.n && a.written !== b.written ? (lastWritten(b, a) === b ? a : b) : later(a, b);
}

export function mergeLifeByField(a: Life, b: Life): Life {
  const stands = later(a, b);
  const closing = a.written >= b.written ? a : b;
  const claim = a.n === b.n && a.began !== b.began ? (a.began < b.began ? a : b) : stands;
  const { close_reason, closed_at } = closing;
  return { ...stands, assignee: claim.assignee, close_reason, closed_at };
}

/** The last digits are what a counter would be. */
export function truncateStamps(record: TaskRecord): TaskRecord {
  const cut = (stamp: number): number => stamp - (stamp % 4);
  const fields = new Map(
    [...record.fields].map(([name, { value, stamp }]) => [name, { value, stamp: cut(stamp) }]),
  );
  const cutMap = ({ floor, elements }: ElementMap): ElementMap => ({
    floor: cut(floor),
    elements: new Map([...elements].map(([key, { value, stamp }]) => [key, { value, stamp: cut(stamp) }])),
  });
  const { life } = record;
  const written = cut(life.written);
  return mapElements({ ...record, fields, life: { ...life, began: cut(life.began), written } }, cutMap);
}

export function forgetRemovals(record: TaskRecord): TaskRecord {
  return mapElements(record, ({ floor, elements }) => ({
    floor,
    elements: new Map([...elements].filter(([, { value }]) => value !== undefined)),
  }));
}

export function joinTombstones(a: TaskRecord, b: TaskRecord): TaskRecord {
  if (isDeleted(a) === isDeleted(b)) return joinRecords(a, b);
  const [dead, alive] = isDeleted(a) ? [a, b] : [b, a];
  const died = dead.fields.get('deleted_at')?.stamp ?? 0;
  if (lastStamp(alive) > died) return alive;
  const fields = new Map([...dead.fields].filter(([name]) => name === 'deleted_at'));
  for (const [name, value] of Object.entries(FIELD_DEFAULTS)) fields.set(name, { value, stamp: died });
  return { ...mapElements(dead, () => ({ floor: died, elements: new Map() })), fields };
}

export function joinFields(a: TaskRecord['fields'], b: TaskRecord['fields']): TaskRecord['fields'] {
  const joined = new Map(a);
  for (const [name, theirs] of b) if (theirs.stamp > (a.get(name)?.stamp ?? -1)) joined.set(name, theirs);
  return joined;
}

export function ignoreFloor(a: ElementMap, b: ElementMap): ElementMap {
  const elements = new Map<string, Element>(a.elements);
  for (const [key, theirs] of b.elements) {
    if (theirs.stamp > (elements.get(key)?.stamp ?? -1)) elements.set(key, theirs);
  }
  return { floor: Math.max(a.floor, b.floor), elements };
}

export function absentWins(a: ElementMap, b: ElementMap): ElementMap {
  const at = (map: ElementMap, key: string): Element =>
    map.elements.get(key) ?? { stamp: map.floor, value: undefined };
  const elements = new Map<string, Element>();
  for (const key of new Set([...a.elements.keys(), ...b.elements.keys()])) {
    const [ours, theirs] = [at(a, key), at(b, key)];
    const tie = ours.stamp === theirs.stamp && theirs.value === undefined;
    elements.set(key, theirs.stamp > ours.stamp || tie ? theirs : ours);
  }
  return { floor: Math.max(a.floor, b.floor), elements };
}

export function lastOf({ floor, elements }: ElementMap): number {
  return Math.max(floor, ...[...elements.values()].map(({ stamp }) => stamp));
}

export function newerUnknownKeys(a: TaskRecord, b: TaskRecord): TaskRecord {
  const newer = lastStamp(a) >= lastStamp(b) ? a : b;
  const joined = joinRecords(a, b);
  const known = [...joined.fields].filter(
    ([name]) => Object.hasOwn(FIELD_DEFAULTS, name) || newer.fields.has(name),
  );
  return { ...joined, fields: new Map<string, Register>(known) };
}

export function throughPlainObjects(record: TaskRecord): TaskRecord {
  return mapElements(record, ({ floor, elements }) => {
    const plain: Record<string, Element> = {};
    for (const [key, element] of elements) plain[key] = element;
    return { floor, elements: new Map(Object.entries(plain)) };
  });
}

export function keepFloors(before: TaskRecord, after: TaskRecord): TaskRecord {
  if (isDeleted(before) || !isDeleted(after)) return after;
  return mapElements(after, ({ elements }, name) => ({ floor: before[name].floor, elements }));
}

export function keepStamps(before: TaskRecord, after: TaskRecord): TaskRecord {
  const fields = new Map<string, Register>();
  for (const [name, { value, stamp }] of after.fields) {
    fields.set(name, { value, stamp: before.fields.get(name)?.stamp ?? stamp });
  }
  return { ...after, fields };
}

/** Of two tasks with one id the one that was made first keeps it. */
export function renameLater(graph: TaskGraph, other: TaskGraph, shared: ReadonlySet<string>): TaskGraph {
  const later = [...shared].filter((birth) => {
    const [ours, theirs] = [graph.get(birth), other.get(birth)];
    if (ours === undefined || theirs === undefined) return false;
    return identityOf(ours).key > identityOf(theirs).key;
  });
  return tellApart(graph, new Set(later));
}

export function renameTo(
  graph: TaskGraph,
  shared: ReadonlySet<string>,
  name: (birth: string) => string,
): TaskGraph {
  const renamed = new Map([...shared].map((birth) => [birth, name(birth)]));
  return new Map(
    [...graph.values()].map((record) => renameTask(record, renamed)).map((one) => [one.id, one]),
  );
}

export function renameBare(graph: TaskGraph, shared: ReadonlySet<string>): TaskGraph {
  const result = new Map<string, TaskRecord>();
  for (const record of graph.values()) {
    const id = shared.has(birthOf(record)) ? identityOf(record).apart : record.id;
    const there = result.get(id);
    const moved = { ...record, id };
    result.set(id, there === undefined ? moved : joinRecords(there, moved));
  }
  return result;
}
