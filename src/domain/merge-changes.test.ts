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
