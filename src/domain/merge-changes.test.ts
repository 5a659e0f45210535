import { describe, expect, it } from 'vitest';
import { plainRecord } from '../../tests/support/plain-record.ts';
import { findUndecided, listMergeChanges } from './merge-changes.ts';
import { encodeRecord } from './record-codec.ts';

/** Lines of two tasks: the first letter is the task. */
const keyOf = (line: string): string | undefined => (line === '' ? undefined : line[0]);
const lines = (text: string): Set<string> => new Set(text.split(' '));

/** The merge, its two parents, and where they parted. */
const MERGES: readonly (readonly [string, string, string, string, string, string])[] = [
  ['git took the side that changed', 'a2', 'a1', 'a2', 'a1', ''],
  ['git took the other side that changed', 'a2', 'a2', 'a1', 'a1', ''],
  ['the side that had changed nothing was taken', 'a1', 'a2', 'a1', 'a1', ''],
  ['both made the same of it', 'a2', 'a2', 'a2', 'a1', ''],
  ['a person chose the second', 'a3', 'a2', 'a3', 'a1', '-a2 +a3'],
  ['a person chose the first', 'a2', 'a2', 'a3', 'a1', '-a3 +a2'],
  ['a person went back', 'a1', 'a2', 'a3', 'a1', '-a2 +a1 -a3'],
  ['a person wrote something else', 'a4', 'a2', 'a3', 'a1', '-a2 +a4 -a3'],
  ['also where only one side had changed', 'a4', 'a1', 'a3', 'a1', '-a1 +a4 -a3'],
  ['another task is another matter', 'a2 b3', 'a1 b2', 'a2 b3', 'a1 b1', '-b2 +b3'],
  ['what is gone says nothing', 'b1', 'a2 b1', 'a3 b1', 'a1 b1', ''],
  ['histories without anything in common', 'a3', 'a2', 'a3', '', '-a2 +a3'],
];

describe('[D1] what a merge says of lines', () => {
  it.each(MERGES)('%s', (_name, result, first, second, base, expected) => {
    const merged = {
      result: lines(result),
      parents: [lines(first), lines(second)],
      bases: base === '' ? [] : [lines(base)],
    };
    expect(listMergeChanges(merged, keyOf).join(' ')).toBe(expected);
  });

  it('nothing of lines that are of no task: none stands for another', () => {
    const merged = { result: lines('a1'), parents: [lines('a2'), lines('a1')], bases: [] };
    expect(listMergeChanges(merged, keyOf)).not.toEqual([]);
    expect(listMergeChanges(merged, () => undefined)).toEqual([]);
  });

  it('takes a line for unchanged that is so from one of several places where the sides parted', () => {
    const merged = {
      result: lines('a3'),
      parents: [lines('a2'), lines('a3')],
      bases: [lines('a1'), lines('a2')],
    };
    expect(listMergeChanges(merged, keyOf)).toEqual([]);
  });
});

/** A line of a tool that knows nothing of stamps. */
const plain = (more: object): string => {
  const { _v, ...rest } = JSON.parse(written('one')) as Record<string, unknown>;
  return JSON.stringify({ ...rest, ...more });
};

describe('[D1] a line without stamps that a merge took whole', () => {
  it.each<[string, object, object, boolean]>([
    ['shows what stood where the sides parted', {}, { title: 'two' }, false],
    ['was changed in other values', { description: 'taken' }, { title: 'two', labels: ['x'] }, false],
    ['was changed in the same value', { title: 'taken' }, { title: 'two', labels: ['x'] }, true],
    ['lost a label that the other side lost too', { labels: [] }, { labels: [] }, false],
    ['took away a label that the other side replaced', { labels: ['x'] }, { labels: ['x', 'y'] }, true],
    ['has another key', { mood: 1 }, { metadata: { k: 1 } }, false],
    ['has the same key with another value', { metadata: { k: 2 } }, { metadata: { k: 1 } }, true],
  ])('takes back what the other side wrote only where both wrote it: it %s', (_name, ours, theirs, says) => {
    const [taken, replaced] = [plain(ours), plain(theirs)];
    const parents = [new Set([taken]), new Set([replaced])];
    const merged = { result: new Set([taken]), parents, bases: [new Set([written('one')])] };
    const changes = listMergeChanges(merged, () => 'the task');
    expect(changes).toEqual(says ? [`-${replaced}`, `+${taken}`] : []);
  });

  it('says what it shows where the parents have nothing in common, or the line is of neither', () => {
    const [taken, replaced, base] = [
      plain({ description: 'taken' }),
      plain({ title: 'two' }),
      written('one'),
    ];
    const parents = [new Set([taken]), new Set([replaced])];
    const keyOf = (): string => 'the task';
    const result = new Set([taken]);
    expect(listMergeChanges({ result, parents, bases: [] }, keyOf)).toEqual([`-${replaced}`, `+${taken}`]);
    const other = [new Set([base]), new Set([replaced])];
    expect(listMergeChanges({ result, parents: other, bases: [new Set([base])] }, keyOf)).toContain(
      `-${replaced}`,
    );
  });
});

const written = (title: string): string => encodeRecord(plainRecord(title));
const ONE = written('one');
const OTHER = written('other');
const edited = (line: string, title: string): string => line.replace(/"title":"[^"]*"/, `"title":"${title}"`);
const bare = (title: string): string => JSON.stringify({ id: 'fg-a3f8', title });

/** A line of a parent, that of the merge, and where the parents parted. */
const PARENTS: readonly (readonly [string, string, string | undefined, string | undefined, boolean])[] = [
  ['as Forge wrote it', ONE, OTHER, ONE, true],
  ['edited, and gone', edited(ONE, 'two'), undefined, undefined, true],
  ['edited, and settled in the same line', edited(ONE, 'two'), edited(ONE, 'three'), undefined, false],
  ['edited, and settled as before the edit', edited(ONE, 'two'), ONE, undefined, false],
  ['edited, and settled in a line without stamps', edited(ONE, 'two'), bare('three'), undefined, false],
  ['without stamps, and settled in such a line', bare('two'), bare('three'), undefined, false],
  ['edited, and Forge wrote another line', edited(ONE, 'two'), OTHER, undefined, true],
  ['edited before the sides parted', edited(ONE, 'two'), OTHER, edited(ONE, 'two'), false],
  ['without stamps, and Forge wrote a line', bare('two'), OTHER, undefined, true],
];

describe('[D1] a line of a parent of a merge', () => {
  it.each([
    ['the other side had changed nothing', [ONE], true],
    ['both sides had changed it, and the merge went back', [edited(ONE, 'three')], false],
  ] as const)('that was edited, where the merge has it as before: %s', (_name, other, expected) => {
    const text = edited(ONE, 'two');
    const merged = {
      result: new Set([ONE]),
      parents: [new Set([text]), new Set(other)],
      bases: [new Set([ONE])],
    };
    expect(findUndecided(merged, () => 'the task')(text)).toBe(expected);
  });

  it.each(PARENTS)('may say more than the merge, or not: %s', (_name, line, there, before, expected) => {
    const merged = {
      result: new Set(there === undefined ? [] : [there]),
      parents: [new Set([line])],
      bases: before === undefined ? [] : [new Set([before])],
    };
    const isUndecided = findUndecided(merged, (text) => /"id":"([^"]*)"/.exec(text)?.[1]);
    expect(isUndecided(line)).toBe(expected);
  });
});
