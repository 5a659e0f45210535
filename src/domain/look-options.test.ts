import { expect, it } from 'vitest';
import { hasLookOptions } from './look-options.ts';

it.each([
  ['ls -la', true],
  ['ls --hyperlink', false],
  ['cd src', true],
  ['cd -P src', false],
  ['git log --oneline -5', true],
  ['git log --output=x', false],
  ['git push', false],
  ['cat -', true],
  ['rm x', false],
  ['rm -f x', false],
])('%s only looks: %s', (line, looks) => {
  expect(hasLookOptions(line.split(' '))).toBe(looks);
});
