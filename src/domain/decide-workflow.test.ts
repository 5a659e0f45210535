import { describe, expect, it } from 'vitest';
import { decideWorkflow, isNews, type ToldWorkflow } from './decide-workflow.ts';

const person = (digest: string): ToldWorkflow => ({ digest });
const shows = (digest: string, before: string | undefined): ToldWorkflow => ({ digest, shown: { before } });

describe('decideWorkflow', () => {
  it.each([
    ['the first that a person tells', undefined, person('a'), 'take'],
    ['the first that a checkout shows', undefined, shows('a', undefined), 'take'],
    ['the first after the database was made anew', undefined, shows('a', 'a'), 'take'],
    ['the one that counts, told again', 'a', person('a'), 'same'],
    ['the one that counts, in a checkout nobody looked at', 'a', shows('a', undefined), 'same'],
    ['the one that counts, where another one was before', 'a', shows('a', 'b'), 'same'],
    ['another one that a person tells', 'a', person('b'), 'take'],
    ['another one in a checkout nobody looked at', 'a', shows('b', undefined), 'stands'],
    ['another one that the checkout showed before too', 'a', shows('b', 'b'), 'stands'],
    ['another one that the checkout did not show before', 'a', shows('b', 'a'), 'take'],
    ['a third one', 'a', shows('c', 'b'), 'take'],
  ] as const)('%s', (_, kept, told, expected) => {
    expect(decideWorkflow(kept, told)).toBe(expected);
  });
});

it.each([
  ['the built-in one, where none was told yet', undefined, undefined, false],
  ['one of its own, where none was told yet', undefined, {}, true],
  ['the built-in one after another', 'a', undefined, true],
  ['one after another', 'a', {}, true],
])('the feed of a store that is told %s', (_, kept, definition, told) => {
  expect(isNews(kept, definition)).toBe(told);
});
