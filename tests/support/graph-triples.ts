import { birthOf, identityOf } from '#domain/identity.ts';
import type { TaskGraph } from '#domain/join-graphs.ts';
import { keepLostValues } from '#domain/lost-values.ts';
import { findLostValues } from '#domain/merge-losses.ts';
import { newRecord } from '#domain/task-changes.ts';
import {
  dependencyKey,
  fieldValue,
  isDeleted,
  splitDependencyKey,
  type TaskRecord,
} from '#domain/task-record.ts';
import { toIso } from '#kernel/clock.ts';
import type { Json, JsonObject } from '#kernel/json.ts';
import { editByHand, rewriteLine } from './foreign-lines.ts';
import { fromFile, toFile, type World } from './join-world.ts';
import { emptyRecord } from './old-deletion.ts';
import { seededRandom, type Random } from './random.ts';
import {
  carryOut,
  FIELDS,
  PEOPLE,
  REQUESTS,
  UNKNOWN,
  VALUES,
  WORDS,
  type EditOf,
  type Step,
} from './record-steps.ts';

/** Three files that three clones of one project can really hold, and every operation on the way there. */
export interface Triple {
  readonly seed: number;
  readonly files: readonly [string, string, string];
  readonly changes: readonly Change[];
}

/** True when some id stands for more than one task in the files, or did so before they met. */
export function isCollision(files: readonly TaskGraph[]): boolean {
  const keys = new Map<string, string>();
  for (const file of files) {
    for (const record of file.values()) {
      const { birth, key } = identityOf(record);
      if (birth !== record.id || (keys.get(birth) ?? key) !== key) return true;
      keys.set(birth, key);
    }
  }
  return false;
}

export interface Change {
  readonly what: string;
  readonly before: TaskRecord;
  readonly after: TaskRecord;
}

/**
 * Three clones work apart on what they had in common, on clocks that tie and jump back, now and then take over
 * each other's work, and in about a quarter of the triples make different tasks under one id.
 */
export function makeTriple(seed: number, world: World): Triple {
  const random = seededRandom(seed);
  const changes: Change[] = [];
  const origin = { ...newClone('a', random), changes, world, random };
  for (let tasks = 1 + random.below(3); tasks > 0; tasks -= 1) create(origin, nextId(origin));
  work(origin, random.below(5));
  const clones = [fork(origin, 'b'), fork(origin, 'c'), fork(origin, 'd')] as const;
  const colliding = random.oneIn(4) ? random.pick(['fg-k7q2', 'fg-0123456789', 'legacy1']) : undefined;
  const apart = random.below(4); // mostly one of the three knows nothing of the collision
  clones.forEach((clone, at) => {
    if (colliding !== undefined && at !== apart) createAndRefer(clone, colliding);
    work(clone, random.below(5));
  });
  for (let meetings = random.below(3); meetings > 0; meetings -= 1) {
    const taker = random.pick(clones);
    takeOver(taker, random.pick(clones), origin.graph);
    work(taker, random.below(3));
  }
  const [a, b, c] = clones;
  return { seed, files: [toFile(world, a.graph), toFile(world, b.graph), toFile(world, c.graph)], changes };
}

interface Clone {
  readonly name: string;
  graph: Map<string, TaskRecord>;
  now: number;
  count: number;
  /** What stood there before a deletion, by identity. */
  readonly undo: Map<string, TaskRecord>;
}

type Place = Clone & { readonly changes: Change[]; readonly world: World; readonly random: Random };

const BEGINNINGS = [1_770_714_000_000, 1_770_714_000_123, 0];
const WAITS = [0, 0, 0, 0, 1, 1, 1, -1, -1, 3, -7, 1_000, -1_000_000];
const STRANGERS = ['zz-77', 'fg-gone'];

function newClone(name: string, random: Random): Clone {
  return { name, graph: new Map(), now: random.pick(BEGINNINGS), count: 0, undo: new Map() };
}

function fork(from: Place, name: string): Place {
  return { ...from, name, count: 0, graph: new Map(from.graph), undo: new Map(from.undo) };
}

function nextId(place: Place): string {
  place.count += 1;
  return `fg-${place.name}00${place.count.toString(36)}`;
}

function tick(place: Place): number {
  place.now = Math.max(0, place.now + place.random.pick(WAITS));
  return place.now;
}

function create(place: Place, id: string): void {
  const { random, world } = place;
  const now = tick(place);
  const created_by = random.pick(['ann', 'bob']);
  const labels = [...new Set([random.pick(WORDS), random.pick(WORDS)])];
  const ids = [...place.graph.keys(), ...STRANGERS];
  const parent_id = random.oneIn(2) ? random.pick(ids) : null;
  const dependencies = random.oneIn(2) ? [dependencyKey(random.pick(ids), 'blocks')] : [];
  const record = random.oneIn(3)
    ? world.decode({
        ...({ id, title: 'From a line', status: 'open', created_by, parent_id, labels } satisfies JsonObject),
        ...(random.oneIn(2) && {
          sprint: 7,
          metadata: JSON.parse('{"__proto__":1,"10":{"b":1,"a":2}}') as Json,
        }),
        created_at: toIso(now),
        updated_at: toIso(now + random.pick([0, 0, 1, 60_000])),
      })
    : newRecord(
        {
          id,
          created_by,
          fields: { title: 'Made by Forge', priority: 1, parent_id },
          assignee: random.oneIn(4) ? random.pick(PEOPLE) : null,
          state: random.oneIn(4) ? 'backlog' : 'todo',
          labels,
          dependencies,
          metadata: new Map([[random.pick(WORDS), random.pick(VALUES)]]),
        },
        now,
      );
  place.graph.set(id, record);
}

/** The same id in two clones: two tasks, unless maker and moment happen to be the same too. */
function createAndRefer(place: Place, id: string): void {
  create(place, id);
  const other = place.random.pick([...place.graph.keys()]);
  change(place, other, 'refer', (record, now) =>
    carryOut(record, { wait: 0, do: 'edit', edits: [referTo(place, id)] }, given(place, record, now)),
  );
}

function work(place: Place, operations: number): void {
  for (let left = operations; left > 0; left -= 1) operate(place);
}

/** As often as an operation stands here, it is tried. */
const OPERATIONS = (
  'edit edit edit edit edit request request claim claim claim release release close close reopen reopen ' +
  'comment comment delete delete empty restore restore restore create line hand keep settle'
).split(' ');

/** Operations that would mostly find nothing to do on a task picked blindly. */
const READY_FOR: Readonly<Record<string, (record: TaskRecord) => boolean>> = {
  release: ({ life }) => life.status === 'in_progress',
  reopen: ({ life }) => life.status === 'closed',
  delete: (record) => !isDeleted(record),
  empty: (record) => !isDeleted(record),
  restore: isDeleted,
  settle: ({ conflicts }) => conflicts.elements.size > 0,
};

function operate(place: Place): void {
  const { random, world } = place;
  const what = random.pick(OPERATIONS);
  if (what === 'create') return create(place, nextId(place));
  const able = [...place.graph.values()].filter(READY_FOR[what] ?? (() => true));
  if (able.length === 0) return;
  // Half of the work meets on one task, or the clones would seldom contradict each other.
  const task = random.oneIn(2) ? (able[0] as TaskRecord) : random.pick(able); // there is one
  change(place, task.id, what, (record, now) => {
    if (what === 'line') return rewriteLine(world, record, now, random);
    if (what === 'empty') return emptyRecord(record, now);
    if (what === 'hand') return editByHand(world, record, now, random);
    if (what === 'keep') {
      const stamp = random.below(4);
      return keepLostValues(record, [{ name: 'title', value: 'Lost', stamp, beaten_at: now }]);
    }
    if (what === 'restore' && !canRestore(place, record)) return record;
    const step = toStep(place, what, record);
    return step === undefined ? record : carryOut(record, step, given(place, record, now));
  });
}

function toStep(place: Place, what: string, record: TaskRecord): Step | undefined {
  const { random } = place;
  switch (what) {
    case 'edit':
      return { wait: 0, do: 'edit', edits: Array.from({ length: 1 + random.below(3) }, () => anEdit(place)) };
    case 'settle': {
      const [key] = record.conflicts.elements.keys();
      if (key === undefined) return undefined;
      return { wait: 0, do: 'edit', edits: [{ of: 'conflict', key, value: undefined }] };
    }
    case 'request':
      return { wait: 0, do: 'request', request: random.pick(REQUESTS) };
    case 'claim':
      return { wait: 0, do: 'claim', who: random.pick(PEOPLE), force: random.oneIn(2) };
    case 'release':
    case 'close':
    case 'reopen':
    case 'comment':
    case 'delete':
    case 'restore':
      return { wait: 0, do: what, word: random.pick(['done', 'wontfix', '__proto__']) };
    default:
      throw new Error(`No operation ${what}`);
  }
}

function anEdit(place: Place): EditOf {
  const { random } = place;
  switch (random.below(6)) {
    case 0: {
      const key = random.pick(['title', 'description', 'priority', 'type', 'github_issue']);
      return { of: 'field', key, value: random.pick(FIELDS[key] ?? []) };
    }
    case 1:
      return { of: 'field', key: random.pick(UNKNOWN), value: random.pick([null, 'x', 5]) };
    case 2:
      return { of: 'label', key: random.pick(WORDS), value: random.pick([true, undefined]) };
    case 3:
      return { of: 'metadata', key: random.pick(WORDS), value: random.pick([...VALUES, undefined]) };
    case 4:
      return referTo(place, random.pick([...place.graph.keys(), ...STRANGERS]));
    default:
      return { of: 'label', key: random.pick(['core', '__proto__']), value: random.pick([true, undefined]) };
  }
}

function referTo({ random }: Place, id: string): EditOf {
  if (random.oneIn(2)) return { of: 'field', key: 'parent_id', value: random.oneIn(5) ? null : id };
  const key = dependencyKey(id, random.pick(['blocks', 'related', 'discovered-from']));
  return { of: 'dependency', key, value: random.oneIn(4) ? undefined : true };
}

function given(place: Place, record: TaskRecord, now: number): Parameters<typeof carryOut>[2] {
  return { now, undo: place.undo.get(identityOf(record).key) ?? record, number: place.random.below(5) };
}

/** What was deleted under an id that has become two since then cannot be referred to by it. */
function canRestore(place: Place, record: TaskRecord): boolean {
  const before = place.undo.get(identityOf(record).key);
  if (before === undefined) return false;
  const parent = fieldValue(before, 'parent_id');
  const ids = [...before.dependencies.elements.keys()].map((key) => splitDependencyKey(key).id);
  if (typeof parent === 'string') ids.push(parent);
  return ids.every((id) => place.graph.has(id) || STRANGERS.includes(id));
}

function change(
  place: Place,
  id: string,
  what: string,
  act: (record: TaskRecord, now: number) => TaskRecord,
): void {
  const { graph, world } = place;
  const before = graph.get(id);
  if (before === undefined) return;
  const acted = act(before, tick(place));
  if (acted === before) return;
  const after = world.settle(before, acted);
  if (isDeleted(after) && !isDeleted(before)) place.undo.set(identityOf(before).key, before);
  graph.set(id, after);
  place.changes.push({ what, before, after });
}

/** What a pull does: the other's file joined in, and what truly conflicts with the common past kept. */
function takeOver(place: Place, other: Place, base: ReadonlyMap<string, TaskRecord>): void {
  if (place === other) return;
  const { world } = place;
  const theirs = fromFile(world, toFile(world, other.graph));
  const joined = new Map(world.joinGraphs(fromFile(world, toFile(world, place.graph)), theirs));
  if (place.random.oneIn(2)) {
    for (const [id, record] of joined) {
      const [old, a, b] = [base.get(id), place.graph.get(id), theirs.get(id)];
      if (old === undefined || a === undefined || b === undefined || birthOf(a) !== id) continue;
      joined.set(id, keepLostValues(record, findLostValues(old, a, b)));
    }
  }
  for (const [key, before] of other.undo) place.undo.set(key, before);
  place.graph = fromFile(world, toFile(world, joined));
}
