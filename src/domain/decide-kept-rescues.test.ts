import { describe, expect, it } from 'vitest';
import { decideKeptRescues, type KeptRescueFacts, type RescueBounds } from './decide-kept-rescues.ts';

const OLD: KeptRescueFacts = {
  ref: 'old',
  attempt_id: 'a',
  task_id: 't',
  number: 1,
  seen_at: 10,
  told_at: 10,
  folder: 'gone',
  work: 'over',
};
const NEWEST: KeptRescueFacts = { ...OLD, ref: 'newest', number: 2, seen_at: 20, told_at: 90 };
const BOUNDS: RescueBounds = { until: 50, shown_until: 70, number: 10 };

const decide = (all: readonly KeptRescueFacts[], bounds: Partial<RescueBounds> = {}): string[] =>
  decideKeptRescues(all, { ...BOUNDS, ...bounds }).map(({ ref }) => ref);

describe('of two rescue refs of a task the older', () => {
  it.each<[string, Partial<KeptRescueFacts>, Partial<RescueBounds>, string[]]>([
    ['goes when a person was shown it long ago', {}, {}, ['old']],
    ['stays until then', { told_at: 50 }, {}, []],
    ['goes sooner where there are too many', { told_at: 50 }, { number: 1 }, ['old']],
    ['stays where it was shown of late', { told_at: 70 }, { number: 1 }, []],
    ['stays where there are as many as may be', { told_at: 50 }, { number: 2 }, []],
    ['stays where no person was shown it', { told_at: null }, { number: 1, until: 1_000 }, []],
    ['stays while its folder is there', { folder: 'there' }, { number: 1 }, []],
    ['stays while its task is unfinished', { work: 'unfinished' }, { number: 1 }, []],
    ['stays where nothing is known of its task', { work: 'unknown' }, { number: 1 }, []],
  ])('%s', (_name, facts, bounds, expected) => {
    expect(decide([{ ...OLD, ...facts }, NEWEST], bounds)).toEqual(expected);
  });
});

it('keeps the newest of each task, whatever attempt it is of, and of each attempt without a task', () => {
  const told = { told_at: 1 };
  const other = { ...OLD, ref: 'other attempt', attempt_id: 'b', seen_at: 30, ...told };
  expect(decide([{ ...NEWEST, ...told }, OLD, other], { number: 1 })).toEqual(['newest', 'old']);
  const own = { ...OLD, task_id: null };
  expect(decide([own, { ...own, ref: 'b', attempt_id: 'b' }], { number: 1, until: 1_000 })).toEqual([]);
  // Those that were first looked at together are told apart by their number.
  expect(decide([{ ...OLD, ref: 'second', number: 2 }, OLD], { number: 1 })).toEqual(['old']);
});

it('lets no more go than are too many, those that were shown first before the others', () => {
  const many = [3, 1, 2].map((at) => ({ ...OLD, ref: `${at}`, told_at: 60 + at, number: 10 - at }));
  expect(decide([...many, { ...NEWEST, number: 20 }], { number: 2 })).toEqual(['1', '2']);
});
