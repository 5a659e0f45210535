import { describe, expect, it } from 'vitest';
import { LIMITS } from '#kernel/limits.ts';
import { deciding, NOW, seenTask } from '../../tests/support/seen-task.ts';
import type { Reach } from './bounded-walk.ts';
import {
  decideDependency,
  decideNoDependency,
  decideParent,
  isDependency,
  needsWayBack,
} from './decide-dependency.ts';
import { explainGraphRefusal } from './graph-refusal.ts';
import { listDependencies } from './record-codec.ts';
import { editRecord } from './task-changes.ts';
import type { SeenTask } from './task-plan.ts';
import { dependencyKey } from './task-record.ts';

const ID = 'fg-a1b2';
const OTHER = 'fg-c3d4';

function waitingFor(...keys: string[]): SeenTask {
  const seen = seenTask();
  const dependencies = new Map(keys.map((key) => [key, { value: true }]));
  return { ...seen, record: editRecord(seen.record, { dependencies }, NOW - 1) };
}

/** A record that blocks on these and on nothing else. */
function withEdges(...ids: string[]): unknown {
  const elements = new Map(ids.map((id) => [dependencyKey(id, 'blocks'), { value: true, stamp: NOW }]));
  return expect.objectContaining({ dependencies: expect.objectContaining({ elements }) as unknown });
}

const WAYS = {
  'not looked for': undefined,
  apart: { outcome: 'apart' },
  reached: { outcome: 'reached', path: [OTHER, 'fg-e5f6', ID] },
  'too many': { outcome: 'too_many' },
} as const satisfies Record<string, Reach | undefined>;

describe('decideDependency, the whole table', () => {
  const all = [ID, OTHER].flatMap((to) =>
    ([3, 2] as const).flatMap((fence) =>
      [true, false].flatMap((known) =>
        (Object.keys(WAYS) as (keyof typeof WAYS)[]).map((way) => ({ to, fence, known, way })),
      ),
    ),
  );

  it('has 32 rows', () => {
    expect(all).toHaveLength(32);
  });

  it.each(all)('on $to, fence $fence, there already: $known, way back $way', ({ to, fence, known, way }) => {
    const task = known ? waitingFor(dependencyKey(to, 'blocks')) : seenTask();
    const wish = { to, fence, type: 'blocks' } as const;
    const decision = decideDependency(task, wish, { way_back: WAYS[way], deciding: deciding() });
    expect(decision).toMatchObject(expected({ to, fence, known, way }));
  });

  function expected({ to, fence, known, way }: (typeof all)[number]): Readonly<Record<string, unknown>> {
    if (to === ID) return { outcome: 'cycle', by: 'dependency', path: [ID, ID] };
    if (fence === 2) return { outcome: 'other_claim', asked: 2 };
    if (known) return { outcome: 'kept' };
    if (way === 'reached') return { outcome: 'cycle', by: 'dependency', path: [ID, OTHER, 'fg-e5f6', ID] };
    if (way === 'too many') return { outcome: 'walk_too_long', command: `forge dep add ${ID} ${OTHER}` };
    const more = { dependency: { id: OTHER, type: 'blocks' } };
    return {
      outcome: 'save',
      after: withEdges(OTHER),
      happening: { type: 'dependency.added', changed: ['dependencies'], more },
    };
  }

  it.each([
    ['blocks', OTHER, false, true],
    ['blocks', OTHER, true, false],
    ['blocks', ID, false, false],
    ['related', OTHER, false, false],
  ] as const)('the way back counts: %s on %s, there already: %s', (type, to, known, needed) => {
    const task = known ? waitingFor(dependencyKey(to, type)) : seenTask();
    expect(needsWayBack(task, { to, type }, deciding())).toBe(needed);
  });

  it('refuses one more than a task may have', () => {
    const task = waitingFor(
      ...Array.from({ length: LIMITS.dependencies_per_task }, (_, at) => `fg-${at}:blocks`),
    );
    const wish = { to: OTHER, type: 'blocks' } as const;
    const add = () => decideDependency(task, wish, { way_back: WAYS.apart, deciding: deciding() });
    expect(add).toThrow(`the limit is ${LIMITS.dependencies_per_task}`);
  });
});

describe('decideNoDependency, the whole table: one that blocks and one that is related', () => {
  const task = waitingFor(dependencyKey(OTHER, 'blocks'), dependencyKey(OTHER, 'related'));
  const none = (type: string | undefined, to = OTHER) => ({ outcome: 'no_dependency', to, type });
  const gone = (removed: readonly string[]) => ({
    outcome: 'save',
    removed,
    happening: {
      type: 'dependency.removed',
      changed: ['dependencies'],
      more: { dependencies: removed.map((type) => ({ id: OTHER, type })) },
    },
  });
  it.each([
    [OTHER, undefined, undefined, gone(['blocks', 'related'])],
    [OTHER, 'blocks', undefined, gone(['blocks'])],
    [OTHER, 'related', 3, gone(['related'])],
    [OTHER, 'related', 2, { outcome: 'other_claim', asked: 2 }],
    [OTHER, 'parent_child', undefined, none('parent_child')],
    ['fg-zzzz', undefined, undefined, none(undefined, 'fg-zzzz')],
  ] as const)('on %s of type %s, fence %s', (to, type, fence, expected) => {
    const wish = { to, type: type as 'blocks' | undefined, fence };
    expect(decideNoDependency(task, wish, deciding())).toMatchObject(expected);
  });

  it.each([
    ['blocks', ['related']],
    [undefined, []],
  ] as const)('leaves the others, where %s goes', (type, left) => {
    const plan = decideNoDependency(task, { to: OTHER, type }, deciding());
    const edges = plan.outcome === 'save' ? listDependencies(plan.after) : [];
    expect(edges.map((edge) => edge.type)).toEqual(left);
    expect(plan.outcome).toBe('save');
  });

  it('knows its own', () => {
    expect(isDependency(task.record, OTHER)).toBe(true);
    expect(isDependency(task.record, ID)).toBe(false);
  });
});

describe('a parent', () => {
  it.each([
    [WAYS.apart, undefined],
    [WAYS.reached, { outcome: 'cycle', by: 'parent', path: [ID, OTHER, 'fg-e5f6', ID] }],
    [WAYS['too many'], { outcome: 'walk_too_long', command: `forge task update ${ID} --parent ${OTHER}` }],
  ] as const)('%j', (way, expected) => {
    expect(decideParent(ID, OTHER, way)).toEqual(expected);
  });
});

describe('what is told of it', () => {
  const long = Array.from({ length: 15 }, (_, at) => `fg-${at}`);
  it.each([
    [
      { outcome: 'cycle', by: 'dependency', path: [ID, ID] },
      'dependency_cycle',
      `${ID} cannot depend on itself`,
      undefined,
      { path: [ID, ID] },
    ],
    [
      { outcome: 'cycle', by: 'dependency', path: [ID, OTHER, ID] },
      'dependency_cycle',
      `That would close a cycle: ${ID} -> ${OTHER} -> ${ID}`,
      `forge dep tree ${OTHER}`,
      { path: [ID, OTHER, ID] },
    ],
    [
      { outcome: 'cycle', by: 'dependency', path: long },
      'dependency_cycle',
      'That would close a cycle: fg-0 -> fg-1 -> fg-2 -> fg-3 -> fg-4 -> fg-5 -> (3 more) -> fg-9 -> fg-10 -> fg-11 -> fg-12 -> fg-13 -> fg-14',
      'forge dep tree fg-1',
      { path: long },
    ],
    [
      { outcome: 'cycle', by: 'parent', path: [ID, ID] },
      'dependency_cycle',
      `${ID} would become its own ancestor: ${ID} -> ${ID}`,
      undefined,
      { path: [ID, ID] },
    ],
    [
      { outcome: 'walk_too_long', command: 'forge x' },
      'too_large',
      `More than 20,000 dependencies lead on from ${ID}, which are too many to look for a cycle in one request of a server`,
      'In the repository, without --server: forge x',
      { id: ID, limit: 20_000 },
    ],
    [
      { outcome: 'no_dependency', to: OTHER, type: undefined },
      'not_found',
      `${ID} has no dependency on ${OTHER}`,
      `forge task show ${ID}`,
      { from_id: ID, to_id: OTHER },
    ],
    [
      { outcome: 'no_dependency', to: OTHER, type: 'blocks' },
      'not_found',
      `${ID} has no blocks dependency on ${OTHER}`,
      `forge task show ${ID}`,
      { from_id: ID, to_id: OTHER },
    ],
  ] as const)('%j', (refusal, code, message, hint, details) => {
    expect(explainGraphRefusal(ID, refusal)).toMatchObject({ code, message, hint, details });
  });
});
