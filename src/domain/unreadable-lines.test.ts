import { expect, it } from 'vitest';
import { mergeUnreadable } from './unreadable-lines.ts';

const split = (text: string): string[] => text.split(' ').filter((line) => line !== '');

it.for([
  // base, ours, theirs, merged
  ['', 'b a', '', 'b a'],
  ['b a', 'b a', '', ''],
  ['a', 'a b', 'a c', 'a b c'],
  ['a b c', 'a c', 'a b c d', 'a c d'],
  ['', '{ } { }', '', '{ } { }'],
  ['{ } { }', '{ x } { }', '{ } { }', '{ x } { }'],
  ['{ }', '{ x }', '{ y }', '{ x y }'],
  ['', '{"a":1} {"b":1}', '{"a":1}', '{"a":1} {"b":1}'],
  ['', '{"b":1} {"a":1}', '{"a":1} {"c":1}', '{"a":1} {"c":1} {"b":1}'],
] as const)(
  '[T14-6] of [%s], [%s] and [%s] stays [%s], whichever is ours',
  ([base, ours, theirs, merged]) => {
    const [root, here, there] = [split(base), split(ours), split(theirs)];
    expect(mergeUnreadable(root, here, there)).toEqual(split(merged));
    expect(mergeUnreadable(root, there, here)).toEqual(split(merged));
  },
);
