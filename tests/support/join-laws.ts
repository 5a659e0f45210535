import { isDeepStrictEqual } from 'node:util';
import { identityOf } from '#domain/identity.ts';
import type { TaskGraph } from '#domain/join-graphs.ts';
import { isSealed } from '#domain/record-seal.ts';
import { MAP_NAMES } from '#domain/task-record.ts';
import type { Change, Triple } from './graph-triples.ts';
import { findLosses } from './join-losses.ts';
import { fromFile, toFile, type World } from './join-world.ts';
import { findIllegality } from './record-steps.ts';

export const LAWS = [
  'commutative',
  'associative',
  'idempotent',
  'absorbing',
  'inflation',
  'narrow',
  'legal',
  'round trip',
  'unique',
  'nothing lost',
] as const;

export type Law = (typeof LAWS)[number];

export interface Violation {
  readonly law: Law;
  readonly what: string;
}

/**
 * What a triple breaks. Everything is compared as bytes: what is joined was read from a file, and the result is
 * written to one before it is looked at.
 */
export function findViolations(world: World, triple: Triple): Violation[] {
  const found: Violation[] = [];
  const report = (law: Law, what: string): void => void found.push({ law, what });
  const [first, second, third] = triple.files;
  const [a, b, c] = [fromFile(world, first), fromFile(world, second), fromFile(world, third)];
  const same = (law: Law, one: string, other: string): void => {
    if (one !== other) report(law, firstDifference(one, other));
  };

  const ab = toFile(world, world.joinGraphs(a, b));
  same('commutative', ab, toFile(world, world.joinGraphs(b, a)));
  const bc = toFile(world, world.joinGraphs(b, c));
  const readAb = fromFile(world, ab);
  const abc = toFile(world, world.joinGraphs(readAb, c));
  same('associative', abc, toFile(world, world.joinGraphs(a, fromFile(world, bc))));
  same('idempotent', first, toFile(world, world.joinGraphs(a, fromFile(world, first))));
  same('idempotent', abc, toFile(world, world.joinGraphs(fromFile(world, abc), fromFile(world, abc))));
  same('absorbing', ab, toFile(world, world.joinGraphs(a, readAb)));
  same('absorbing', ab, toFile(world, world.joinGraphs(readAb, b)));

  const readAbc = fromFile(world, abc);
  for (const [file, graph] of [
    [first, a],
    [second, b],
    [third, c],
    [abc, readAbc],
  ] as const) {
    same('round trip', file, toFile(world, graph));
    for (const line of file.split('\n')) {
      if (line.includes('"_v":{') && !isSealed(line)) report('round trip', `not sealed: ${line}`);
    }
  }
  for (const graph of [a, b, c, readAb, readAbc]) {
    for (const record of graph.values()) {
      const wrong = findIllegality(record);
      if (wrong !== undefined) report('legal', `${record.id} is ${wrong}`);
    }
  }
  for (const wrong of findDoubles(readAbc)) report('unique', wrong);
  for (const lost of findLosses([a, b, c], readAbc)) report('nothing lost', lost);
  for (const change of triple.changes) {
    const broken = findUndoing(world, change);
    if (broken !== undefined) report('inflation', broken);
    for (const touched of findTouched(change)) report('narrow', touched);
  }
  return found;
}

/** An older copy of the task must not undo what was done to it, on whichever side it stands. */
function findUndoing(world: World, { what, before, after }: Change): string | undefined {
  const done = world.encode(after);
  const [old, now] = [reread(world, before), world.decode(JSON.parse(done))];
  for (const joined of [world.joinRecords(old, now), world.joinRecords(now, old)]) {
    const line = world.encode(joined);
    if (line !== done) return `${what} is undone: ${firstDifference(line, done)}`;
  }
  return undefined;
}

/** A deletion and its restore write nothing that another clone may have written: what they do not know must stay. */
function findTouched({ what, before, after }: Change): string[] {
  if (what !== 'delete' && what !== 'restore') return [];
  // What a deletion of an earlier version emptied has its stamp, and is written again by the restore.
  const emptied = what === 'restore' ? before.fields.get('deleted_at')?.stamp : undefined;
  const found: string[] = [];
  for (const [name, field] of before.fields) {
    if (name === 'deleted_at' || field.stamp === emptied) continue;
    if (!isDeepStrictEqual(after.fields.get(name), field)) found.push(`${what} touches ${name}`);
  }
  for (const name of MAP_NAMES) {
    if (after[name].floor !== before[name].floor) found.push(`${what} touches the floor of ${name}`);
    for (const [key, element] of before[name].elements) {
      if (element.stamp === emptied) continue;
      if (!isDeepStrictEqual(after[name].elements.get(key), element))
        found.push(`${what} touches ${name} ${key}`);
    }
  }
  return found;
}

function reread(world: World, record: Change['before']): Change['before'] {
  return world.decode(JSON.parse(world.encode(record)));
}

/** One task under two ids, or one that bears a bare id which stands for two. */
function findDoubles(graph: TaskGraph): string[] {
  const found: string[] = [];
  const ids = new Map<string, string>();
  const apart = new Set<string>();
  for (const [id, record] of graph) {
    const { birth, key } = identityOf(record);
    if (record.id !== id) found.push(`${record.id} stands under ${id}`);
    const other = ids.get(key);
    if (other !== undefined) found.push(`${other} and ${id} are one task`);
    ids.set(key, id);
    if (birth !== id) apart.add(birth);
  }
  for (const birth of apart) if (graph.has(birth)) found.push(`${birth} was told apart and is still there`);
  return found;
}

function firstDifference(one: string, other: string): string {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  const from = Math.max(0, at - 120);
  return `\n  ${one.slice(from, at + 80)}\n  ${other.slice(from, at + 80)}`;
}
