import { describe, expect, it } from 'vitest';
import { isForgeError } from '#kernel/errors.ts';
import { compareText } from '#kernel/text.ts';
import { resolveTaskRef, type IdIndex, type KnownIds } from './resolve-task-ref.ts';

function indexOf(ids: readonly string[]): IdIndex {
  const sorted = ids.toSorted(compareText);
  return {
    has: (id) => sorted.includes(id),
    listBeginning: (beginning, most) => sorted.filter((id) => id.startsWith(beginning)).slice(0, most),
    findNext: (after) => sorted.find((id) => id > after),
  };
}

function known(
  tasks: readonly string[],
  deleted: readonly string[] = [],
  former: Readonly<Record<string, readonly string[]>> = {},
): KnownIds {
  return {
    tasks: indexOf(tasks),
    deleted: indexOf(deleted),
    listFormer: (word, most) => (former[word] ?? []).slice(0, most),
    listKnown: (ids, most) => tasks.filter((id) => ids.has(id)).slice(0, most),
  };
}

const refusal = (work: () => unknown) => {
  try {
    return work();
  } catch (error) {
    if (!isForgeError(error)) throw error;
    const { code, message, hint, details } = error;
    return { code, message, hint, details };
  }
};

describe('a reference means', () => {
  it.each([
    ['the id that it is', ['fg-a3f8', 'fg-a3f81'], 'fg-a3f8', 'fg-a3f8'],
    ['it in any case', ['fg-a3f8'], 'FG-A3F8', 'fg-a3f8'],
    ['what begins so', ['fg-a3f8', 'fg-b1c2'], 'fg-a3', 'fg-a3f8'],
    ['what begins so behind its prefix', ['fg-a3f8', 'fg-b1c2'], 'b', 'fg-b1c2'],
    ['what begins so behind any prefix', ['ab-x1y2', 'fg-a3f8', 'zz-c3c3'], 'c', 'zz-c3c3'],
    ['a whole id before longer ones', ['ab-a3f81', 'fg-a3f8', 'fg-a3f82'], 'a3f8', 'fg-a3f8'],
    ['an id of another form', ['fg-a.b'], 'fg-a.b', 'fg-a.b'],
  ])('%s', (_, tasks, ref, id) => {
    expect(resolveTaskRef(known(tasks), ref)).toBe(id);
  });

  it('a former id before the beginning of another, but not before a whole id', () => {
    const former = { '1': ['fg-b1c2'], a3f8: ['fg-b1c2'] };
    expect(resolveTaskRef(known(['fg-1aaa', 'fg-b1c2'], [], former), '1')).toBe('fg-b1c2');
    expect(resolveTaskRef(known(['fg-a3f8', 'fg-b1c2'], [], former), 'a3f8')).toBe('fg-a3f8');
  });

  it('a deleted task where one is asked for, and no former id then', () => {
    const ids = known(['fg-a3f8'], ['fg-b1c2'], { old: ['fg-a3f8'] });
    expect(resolveTaskRef(ids, 'b1', 'deleted')).toBe('fg-b1c2');
    expect(refusal(() => resolveTaskRef(ids, 'old', 'deleted'))).toEqual({
      code: 'not_found',
      message: 'No deleted task old',
      hint: undefined,
      details: { id: 'old' },
    });
  });
});

describe('a reference is refused', () => {
  const seven = ['1', '2', '3', '4', '5', '6', '7'].map((end) => `fg-a${end}`);

  it.each<[string, KnownIds, string, object]>([
    [
      'where two begin so',
      known(['fg-a1', 'fg-a2']),
      'A',
      {
        code: 'ambiguous_id',
        message: '"A" could be fg-a1, fg-a2',
        hint: 'Type one more character of the id',
        details: { id: 'A', candidates: ['fg-a1', 'fg-a2'] },
      },
    ],
    [
      'where more begin so than are named',
      known(seven),
      'fg-a',
      {
        code: 'ambiguous_id',
        message: '"fg-a" could be fg-a1, fg-a2, fg-a3, fg-a4, fg-a5 and more',
        details: { candidates: seven.slice(0, 5) },
      },
    ],
    [
      'where more begin so, of several prefixes',
      known([...seven.slice(0, 4), ...seven.slice(0, 4).map((id) => id.replace('fg', 'zz'))]),
      'a',
      { message: '"a" could be fg-a1, fg-a2, fg-a3, fg-a4, zz-a1 and more' },
    ],
    [
      'where as many begin so as are named',
      known(seven.slice(0, 5)),
      'a',
      { message: '"a" could be fg-a1, fg-a2, fg-a3, fg-a4, fg-a5' },
    ],
    [
      'where two are whole behind their prefixes',
      known(['ab-x1', 'fg-x1']),
      'x1',
      { code: 'ambiguous_id', message: '"x1" could be ab-x1, fg-x1' },
    ],
    [
      'where two had that id',
      known(['fg-a1', 'fg-a2'], [], { '7': ['fg-a1', 'fg-a2'] }),
      '7',
      {
        code: 'ambiguous_id',
        message: '"7" is the former id of fg-a1, fg-a2',
        details: { id: '7', candidates: ['fg-a1', 'fg-a2'] },
      },
    ],
    [
      'where it is deleted',
      known([], ['fg-a1']),
      'FG-A1',
      {
        code: 'not_found',
        message: 'Task fg-a1 was deleted',
        hint: 'forge task restore fg-a1',
        details: { id: 'fg-a1' },
      },
    ],
    [
      'where it is deleted, and was named without its prefix',
      known([], ['fg-a1']),
      'a1',
      { message: 'Task fg-a1 was deleted' },
    ],
    [
      'where only the beginning of a deleted one was named',
      known([], ['fg-a1']),
      'a',
      { code: 'not_found', message: 'No task a', hint: 'forge task list', details: { id: 'a' } },
    ],
    ['where two deleted ones may be meant', known([], ['ab-x1', 'fg-x1']), 'x1', { message: 'No task x1' }],
    ['where it is empty', known(['fg-a1'], [], { '': ['fg-a1'] }), '', { message: 'No task ' }],
    ['where it has other signs', known(['fg-a1']), 'fg_a', { message: 'No task fg_a' }],
    ['where it has a second hyphen', known(['fg-a1']), 'fg-a-', { message: 'No task fg-a-' }],
  ])('%s', (_, ids, ref, error) => {
    expect(refusal(() => resolveTaskRef(ids, ref))).toMatchObject(error);
  });

  it.each([
    ['another character', 'fg-a3x8'],
    ['one too few', 'fg-a38'],
    ['one too many', 'fg-a3ff8'],
    ['two that changed places', 'fg-3af8'],
    ['one too few at the end', 'fg-a3f'],
    ['a slip in the prefix', 'fh-a3f8'],
  ])('with the id that is meant, one slip away: %s', (_, ref) => {
    const ids = known(['fg-a3f8', 'fg-zzzz']);
    const { tasks } = ids;
    // Beginnings would find the one that is too short.
    const index = { ...ids, tasks: { ...tasks, listBeginning: () => [] } };
    expect(refusal(() => resolveTaskRef(index, ref))).toEqual({
      code: 'not_found',
      message: `No task ${ref}; did you mean fg-a3f8?`,
      hint: 'forge task show fg-a3f8',
      details: { id: ref, candidates: ['fg-a3f8'] },
    });
  });

  it('with three that may be meant at most, and none for what is two slips away, long, or no id', () => {
    const four = known(['fg-a3f1', 'fg-a3f2', 'fg-a3f3', 'fg-a3f4']);
    expect(refusal(() => resolveTaskRef(four, 'fg-a3fx'))).toMatchObject({
      message: 'No task fg-a3fx; did you mean fg-a3f1 or fg-a3f2 or fg-a3f3?',
    });
    for (const ref of ['fg-axxx', 'a3fx'])
      expect(refusal(() => resolveTaskRef(four, ref))).toMatchObject({ message: `No task ${ref}` });
    const [long, longest] = ['fg-a23456789012x', 'fg-a234567890123x'];
    const ids = known(['fg-a234567890123', 'fg-a23456789012y']);
    expect(refusal(() => resolveTaskRef(ids, long))).toMatchObject({ hint: expect.stringContaining('show') });
    expect(refusal(() => resolveTaskRef(ids, longest))).toMatchObject({ hint: 'forge task list' });
  });
});
