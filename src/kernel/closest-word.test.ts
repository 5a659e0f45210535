import { describe, expect, it } from 'vitest';
import { findClosestWord } from './closest-word.ts';

const words = ['task', 'dep', 'ready', 'search', 'completion', 'limit', 'label'];

describe('findClosestWord', () => {
  it.each([
    ['tsak', 'task'],
    ['tas', 'task'],
    ['redy', 'ready'],
    ['READY', 'ready'],
    ['serach', 'search'],
    ['limti', 'limit'],
    ['completoin', 'completion'],
    ['complesion', 'completion'],
    ['dpe', 'dep'],
  ])('%s is %s', (word, meant) => {
    expect(findClosestWord(word, words)).toBe(meant);
  });
  it.each(['', 'x', 'xyzzy', 'zzzzzzzzzz', 'dog', 'completionist-manifesto'])('%s is nothing', (word) => {
    expect(findClosestWord(word, words)).toBeUndefined();
  });
  it('takes the first of equals', () => {
    expect(findClosestWord('labil', ['label', 'labil1'])).toBe('label');
  });
});
