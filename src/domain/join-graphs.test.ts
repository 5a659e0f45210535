import { describe, expect, it } from 'vitest';
import type { Json } from '#kernel/json.ts';
import { isCollision, makeTriple } from '../../tests/support/graph-triples.ts';
import { findViolations, LAWS } from '../../tests/support/join-laws.ts';
import { findLosses } from '../../tests/support/join-losses.ts';
import { MUTANTS } from '../../tests/support/join-mutants.ts';
import { FORGE, fromFile, toFile } from '../../tests/support/join-world.ts';
import { identityOf } from './identity.ts';
import { findSharedBirths, joinGraphs, renameTask, tellApart, type TaskGraph } from './join-graphs.ts';
import { decodeRecord, listDependencies } from './record-codec.ts';
import { editRecord } from './task-changes.ts';
import { fieldValue, type TaskRecord } from './task-record.ts';

/** Seconds on an idle machine; a busy one must not fail it. */
const LONG = { timeout: 120_000 };
const AT = '2026-02-10T09:00:00.000Z';

describe('the laws of the join', () => {
  it('hold for three files of any clones', LONG, () => {
    const done = new Set<string>();
    let collisions = 0;
    const triples = 500;
    for (let seed = 0; seed < triples; seed += 1) {
      const triple = makeTriple(seed, FORGE);
      const found = findViolations(FORGE, triple);
      if (found.length > 0) throw new Error(`Seed ${seed}: ${JSON.stringify(found, null, 2)}`);
      for (const { what } of triple.changes) done.add(what);
      if (isCollision(triple.files.map((file) => fromFile(FORGE, file)))) collisions += 1;
    }
    // A generator that makes nothing breaks no law.
    expect([...done].sort().join(' ')).toBe(
      'claim close comment delete edit empty hand keep line refer release reopen request restore settle',
    );
    expect(collisions / triples).toBeGreaterThan(0.15);
  });

  it('are the same for the same seed', () => {
    expect(makeTriple(7, FORGE)).toEqual(makeTriple(7, FORGE));
    expect(makeTriple(7, FORGE).files).not.toEqual(makeTriple(8, FORGE).files);
  });

  it.each(MUTANTS)('catch this mistake: $name', LONG, ({ breaks, world }) => {
    for (let seed = 0; seed < 1_500; seed += 1) {
      if (findViolations(world, makeTriple(seed, world)).some(({ law }) => law === breaks)) return;
    }
    expect.unreachable(`No triple shows that it is not ${breaks}`);
  });

  it('are each broken by some mistake', () => {
    const caught = new Set(MUTANTS.map(({ breaks }) => breaks));
    expect(LAWS.filter((law) => !caught.has(law))).toEqual([]);
  });
});

describe('two tasks that were born with one id', () => {
  const ann = task('fg-a3f8', { created_by: 'ann', title: "Ann's" });
  const bob = task('fg-a3f8', { created_by: 'bob', title: "Bob's" });
  const apart = { ann: identityOf(ann).apart, bob: identityOf(bob).apart };

  it('both get a name of their own, the same in every clone', () => {
    const joined = joinGraphs(graph(ann), graph(bob));
    expect([...joined.keys()].sort()).toEqual([apart.ann, apart.bob].sort());
    expect(fieldValue(record(joined, apart.ann), 'title')).toBe("Ann's");
    expect(toFile(FORGE, joinGraphs(graph(bob), graph(ann)))).toBe(toFile(FORGE, joined));
  });

  it('keep it when a clone arrives that knows only one of them', () => {
    const both = joinGraphs(graph(ann), graph(bob));
    const edited = editRecord(ann, { fields: new Map([['title', 'Later']]) }, Date.parse(AT) + 5);
    const joined = joinGraphs(both, graph(edited));
    expect([...joined.keys()].sort()).toEqual([apart.ann, apart.bob].sort());
    expect(fieldValue(record(joined, apart.ann), 'title')).toBe('Later');
  });

  it('take the references of their own file with them', () => {
    const edge = { id: 'fg-a3f8', type: 'blocks', note: 'kept' };
    const child = task('fg-c001', { parent_id: 'fg-a3f8', dependencies: [edge] });
    const other = task('fg-d001', { parent_id: 'fg-a3f8' });
    const files = [graph(ann, child), graph(bob, other)] as const;
    const joined = joinGraphs(...files);
    expect(fieldValue(record(joined, 'fg-c001'), 'parent_id')).toBe(apart.ann);
    expect(listDependencies(record(joined, 'fg-c001'))).toEqual([{ id: apart.ann, type: 'blocks' }]);
    expect(toFile(FORGE, joined)).toContain('"note":"kept"');
    expect(fieldValue(record(joined, 'fg-d001'), 'parent_id')).toBe(apart.bob);
    expect(findLosses(files, joined)).toEqual([]);
  });

  it('are not told apart for three that are one', () => {
    expect([...joinGraphs(graph(ann), graph({ ...ann })).keys()]).toEqual(['fg-a3f8']);
    const spelt = task('fg-a3f8', {
      created_by: 'ann',
      title: "Ann's",
      created_at: '2026-02-10T10:00:00+01:00',
    });
    expect([...joinGraphs(graph(ann), graph(spelt)).keys()]).toEqual(['fg-a3f8']);
  });

  it('leave a reference to nobody as it was written', () => {
    const lonely = task('fg-c001', { parent_id: 'fg-a3f8' });
    const joined = joinGraphs(graph(lonely), joinGraphs(graph(ann), graph(bob)));
    expect(fieldValue(record(joined, 'fg-c001'), 'parent_id')).toBe('fg-a3f8');
  });

  it('depend on the order where a reference to nobody meets the collision, a known exception', () => {
    const lonely = graph(task('fg-c001', { parent_id: 'fg-a3f8' }));
    const early = joinGraphs(joinGraphs(lonely, graph(ann)), graph(bob));
    const late = joinGraphs(lonely, joinGraphs(graph(ann), graph(bob)));
    expect(fieldValue(record(early, 'fg-c001'), 'parent_id')).toBe(apart.ann);
    expect(fieldValue(record(late, 'fg-c001'), 'parent_id')).toBe('fg-a3f8');
    // Whoever meets the other then agrees with it.
    expect(toFile(FORGE, joinGraphs(early, late))).toBe(toFile(FORGE, joinGraphs(late, early)));
  });

  it('depend on the order where two parents tie and one name begins the other, the other exception', () => {
    const one = graph(ann, task('fg-c001', { parent_id: 'fg-a3f8' }));
    const two = graph(task('fg-a3f8a'), task('fg-c001', { parent_id: 'fg-a3f8a' }));
    const early = joinGraphs(joinGraphs(one, graph(bob)), two);
    const late = joinGraphs(joinGraphs(one, two), graph(bob));
    expect(fieldValue(record(early, 'fg-c001'), 'parent_id')).toBe(apart.ann);
    expect(fieldValue(record(late, 'fg-c001'), 'parent_id')).toBe('fg-a3f8a');
    expect(toFile(FORGE, joinGraphs(early, late))).toBe(toFile(FORGE, joinGraphs(late, early)));
  });

  it('are one again where a file has both the bare name and the long one of a task', () => {
    const long = renameTask(ann, new Map([['fg-a3f8', apart.ann]]));
    const later = editRecord(long, { labels: new Map([['late', { value: true }]]) }, Date.parse(AT) + 5);
    const told = tellApart(graph(ann, later), new Set(['fg-a3f8']));
    expect([...told.keys()]).toEqual([apart.ann]);
    expect([...record(told, apart.ann).labels.elements.keys()]).toEqual(['late']);
  });
});

describe('findSharedBirths', () => {
  it('finds a collision between files, and one that was told apart before', () => {
    const [one, two] = [task('fg-a3f8', { created_by: 'ann' }), task('fg-a3f8', { created_by: 'bob' })];
    expect([...findSharedBirths(graph(one), graph(two))]).toEqual(['fg-a3f8']);
    expect([...findSharedBirths(joinGraphs(graph(one), graph(two)), new Map())]).toEqual(['fg-a3f8']);
    expect([...findSharedBirths(graph(one), graph({ ...one }))]).toEqual([]);
  });
});

describe('renameTask', () => {
  it('returns the very same record where nothing in it has that name', () => {
    const one = task('fg-c001', { parent_id: 'fg-b2c1', dependencies: [{ id: 'fg-b2c1', type: 'blocks' }] });
    expect(renameTask(one, new Map([['fg-a3f8', 'fg-other']]))).toBe(one);
  });

  it('keeps the later of two edges that become one', () => {
    const stamp = Date.parse(AT) + 5;
    const removed = editRecord(
      task('fg-c001', {
        dependencies: [
          { id: 'fg-old', type: 'blocks' },
          { id: 'fg-new', type: 'blocks' },
        ],
      }),
      { dependencies: new Map([['fg-old:blocks', { value: undefined }]]) },
      stamp,
    );
    const { elements } = renameTask(removed, new Map([['fg-old', 'fg-new']])).dependencies;
    expect([...elements]).toEqual([['fg-new:blocks', { value: undefined, stamp }]]);
  });
});

describe('the look-out for losses', () => {
  const one = task('fg-a001', { labels: ['core'], metadata: { k: 1 }, sprint: 7 });
  const other = editRecord(one, { fields: new Map([['title', 'Later']]) }, Date.parse(AT) + 5);
  const files = [graph(one), graph(other)];

  it.each<[string, TaskRecord, string]>([
    ['a field that went back', one, 'field title is "T"'],
    [
      'a field that vanished',
      { ...other, fields: new Map([...other.fields].slice(0, -1)) },
      'field sprint is undefined',
    ],
    [
      'a label that vanished',
      { ...other, labels: { ...other.labels, elements: new Map() } },
      'labels.core is',
    ],
    [
      'a life that nobody wrote',
      { ...other, life: { ...other.life, assignee: 'x' } },
      'a life that nobody wrote',
    ],
  ])('finds %s', (_name, joined, sentence) => {
    expect(findLosses(files, graph(other))).toEqual([]);
    expect(findLosses(files, graph(joined)).join('\n')).toContain(sentence);
  });

  it('finds a task that vanished', () => {
    expect(findLosses(files, new Map()).join('\n')).toContain('fg-a001 is gone');
  });
});

function task(id: string, more: Record<string, Json> = {}): TaskRecord {
  const times = { created_at: AT, updated_at: AT };
  return decodeRecord({ id, title: 'T', status: 'open', created_by: 'ann', ...times, ...more });
}

function graph(...records: readonly TaskRecord[]): Map<string, TaskRecord> {
  return new Map(records.map((one) => [one.id, one]));
}

function record(from: TaskGraph, id: string): TaskRecord {
  const found = from.get(id);
  if (found === undefined) throw new Error(`No ${id} among ${[...from.keys()].join(', ')}`);
  return found;
}
