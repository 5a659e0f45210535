import { describe, expect, it } from 'vitest';
import { ENOUGH_FOUND, pickMeant } from './pick-meant.ts';

const rows = (...ids: string[]) => ids.map((id) => ({ id }));

describe('pickMeant', () => {
  it.each([
    ['the only one', 'aa', rows('aab'), 'aab'],
    ['the whole id among longer ones', 'aa', rows('aa', 'aab'), 'aa'],
    ['in capitals', 'AA', rows('aa', 'aab'), 'aa'],
  ])('%s', (_, ref, found, id) => {
    expect(pickMeant('runs', ref, found)).toEqual({ id });
  });

  const many = rows(...Array.from({ length: ENOUGH_FOUND }, (_, at) => `aa${at}`));
  it.each([
    [
      'nothing that begins so',
      'aa',
      [],
      { code: 'not_found', message: 'No run aa', hint: 'forge runs list' },
    ],
    ['no reference', '', rows('aa'), { code: 'not_found', details: { id: '' } }],
    [
      'two that begin so',
      'a',
      rows('aa', 'ab'),
      {
        code: 'ambiguous_id',
        message: '"a" could be aa, ab',
        details: { id: 'a', candidates: ['aa', 'ab'] },
      },
    ],
    ['more than are named', 'aa', many, { message: '"aa" could be aa0, aa1, aa2, aa3, aa4 and more' }],
    ['as many as are named', 'aa', many.slice(1), { message: '"aa" could be aa1, aa2, aa3, aa4, aa5' }],
  ])('%s', (_, ref, found, expected) => {
    let thrown: unknown;
    try {
      pickMeant('runs', ref, found);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject(expected);
  });
});
