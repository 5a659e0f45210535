import { describe, expect, it } from 'vitest';
import { findChanged, MOST_CHANGES, type ToldChange } from './find-changed.ts';

const of = (task_id: string, triggered_by = 'user:ann'): ToldChange => ({ task_id, triggered_by });
const about = (changed: unknown, triggered_by = 'system:fold'): ToldChange => {
  return { task_id: null, triggered_by, changed };
};
const many = (count: number) => Array.from({ length: count }, (_, at) => of(`fg-${at % 3}`));

describe('findChanged', () => {
  it.each([
    ['nothing', [], 'tasks', []],
    ['two tasks, one twice', [of('fg-1'), of('fg-2'), of('fg-1')], 'history', ['fg-1', 'fg-2']],
    ['as many as may be', many(MOST_CHANGES), 'tasks', ['fg-0', 'fg-1', 'fg-2']],
    ['more than that', many(MOST_CHANGES + 1), 'tasks', undefined],
    ['what a replay brought', [of('fg-1'), of('fg-2', 'system:replay')], 'tasks', undefined],
    ['many tasks at once, for tasks', [about(['tasks'])], 'tasks', undefined],
    ['many tasks at once, for moves', [of('fg-1'), about(['tasks'])], 'history', ['fg-1']],
    ['many moves at once, for tasks', [about(['history'])], 'tasks', []],
    ['both at once', [about(['history', 'tasks'])], 'history', undefined],
    ['what names nothing', [about([])], 'tasks', undefined],
    ['what says nothing', [about(undefined)], 'tasks', undefined],
    ['what is no list', [about('history')], 'tasks', undefined],
    ['what names something new', [about(['history', 'ranks'])], 'tasks', undefined],
  ] as const)('%s', (_, told, part, expected) => {
    const ids = findChanged(told, { since: 4, oldest: 1, part });
    expect(ids && [...ids]).toEqual(expected);
  });

  it.each([
    [4, 5, true],
    [3, 5, false],
    [9, 5, true],
  ])('since %i, the oldest being %i: known is %s', (since, oldest, isKnown) => {
    expect(findChanged([of('fg-1')], { since, oldest, part: 'tasks' }) !== undefined).toBe(isKnown);
  });
});
