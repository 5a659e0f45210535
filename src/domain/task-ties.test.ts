import { describe, expect, it } from 'vitest';
import { NOW, seenTask } from '../../tests/support/seen-task.ts';
import { listDependencies } from './record-codec.ts';
import { editRecord } from './task-changes.ts';
import { dependencyKey, fieldValue, type TaskRecord } from './task-record.ts';
import { findTieBack, groupTies, planTie } from './task-ties.ts';

const GONE = 'fg-gone';
const BOTH = { child: true, types: ['blocks', 'related'] } as const;
const TIED = planTie(seenTask().record, { id: GONE, tie: BOTH, is_there: true }, { now: NOW }).after;

it('ties are grouped by the neighbour, its dependencies in their order', () => {
  const ties = groupTies({
    children: ['fg-1', 'fg-2'],
    dependents: [
      ['fg-2', 'blocks'],
      ['fg-3', 'related'],
      ['fg-2', 'related'],
    ],
  });
  expect([...ties]).toEqual([
    ['fg-1', { child: true, types: [] }],
    ['fg-2', { child: true, types: ['blocks', 'related'] }],
    ['fg-3', { child: false, types: ['related'] }],
  ]);
});

describe('planTie', () => {
  it.each([
    [BOTH, ['parent_id', 'dependencies']],
    [{ child: true, types: [] }, ['parent_id']],
    [{ child: false, types: ['blocks'] }, ['dependencies']],
  ] as const)('%j goes and comes back', (tie, changed) => {
    const before = seenTask().record;
    const there = planTie(before, { id: GONE, tie, is_there: true }, { now: NOW });
    expect(there.happening).toEqual({ type: 'task.updated', changed });
    expect(fieldValue(there.after, 'parent_id')).toBe(tie.child ? GONE : null);
    expect(listDependencies(there.after)).toEqual(tie.types.map((type) => ({ id: GONE, type })));
    const gone = planTie(there.after, { id: GONE, tie, is_there: false }, { now: NOW });
    expect(gone.happening).toEqual({ type: 'task.updated', changed });
    expect(fieldValue(gone.after, 'parent_id')).toBeNull();
    expect(listDependencies(gone.after)).toEqual([]);
  });
});

describe('what comes back of a tie, the whole table', () => {
  /** When it was taken away. */
  const CUT = NOW + 10;
  const apart = planTie(TIED, { id: GONE, tie: BOTH, is_there: false }, { now: CUT }).after;
  const adopted = editRecord(apart, { fields: new Map([['parent_id', 'fg-new']]) }, CUT + 1);
  const NEIGHBOURS: Readonly<Record<string, TaskRecord>> = { free: apart, adopted };
  const all = Object.keys(NEIGHBOURS).flatMap((neighbour) =>
    [0, CUT, CUT + 1].flatMap((since) =>
      [true, false].flatMap((is_above) =>
        [true, false].map((is_awaited) => ({ neighbour, since, is_above, is_awaited })),
      ),
    ),
  );

  it.each(all)(
    '$neighbour, since $since, lies in it: $is_above, is awaited: $is_awaited',
    ({ neighbour, since, is_above, is_awaited }) => {
      const record = NEIGHBOURS[neighbour] ?? apart;
      const back = findTieBack(record, { id: GONE, tie: BOTH, since, is_above, is_awaited });
      const child = neighbour === 'free' && since <= CUT && !is_above;
      const types = since > CUT ? [] : is_awaited ? ['related'] : ['blocks', 'related'];
      expect(back).toEqual(child || types.length > 0 ? { child, types } : undefined);
    },
  );

  it('is what there was', () => {
    const where = { id: GONE, since: 0, is_above: false, is_awaited: false };
    expect(findTieBack(apart, { ...where, tie: { child: false, types: ['related'] } })).toEqual({
      child: false,
      types: ['related'],
    });
    expect(findTieBack(apart, { ...where, tie: { child: true, types: [] } })).toEqual({
      child: true,
      types: [],
    });
  });

  it('takes the floor for an edge that its record does not name any more', () => {
    const { dependencies } = seenTask().record;
    const never = {
      ...seenTask().record,
      dependencies: { ...dependencies, floor: 100, elements: new Map() },
    };
    const tie = { child: false, types: ['blocks'] } as const;
    const where = { id: GONE, tie, is_above: false, is_awaited: false };
    expect(never.dependencies.elements.has(dependencyKey(GONE, 'blocks'))).toBe(false);
    expect(findTieBack(never, { ...where, since: 100 })).toEqual(tie);
    expect(findTieBack(never, { ...where, since: 101 })).toBeUndefined();
  });
});
