import { expect, test } from 'vitest';
import { holdsText } from './text-search.ts';

test.each([
  ['Fix the Parser', 'the parser', true],
  ['fix the parser', 'THE', true],
  ['100% sure', '0% s', true],
  ['100 percent', '0%', false],
  ['snake_case', 'e_c', true],
  ['snake-case', 'e_c', false],
  ['Änderung', 'änd', true],
  ['ΟΔΟΣ', 'οδος', true],
  ['temperature in \u212a', 'k', false],
  ['temperature in \u212a', '\u212a', true],
])('%s: %s', (text, wanted, expected) => {
  expect(holdsText(text, wanted)).toBe(expected);
});
