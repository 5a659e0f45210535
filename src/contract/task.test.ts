import { describe, expect, it } from 'vitest';
import { Title } from './task.ts';

describe('Title', () => {
  it.each([
    ['a colour', 'a\u001b[31m'],
    ['a bell', 'a\u0007'],
    ['an eight-bit control', 'a\u009b31m'],
    ['a deletion', 'a\u007f'],
    ['an override of the direction', 'a\u202eb'],
    ['an isolate', 'a\u2066b'],
  ])('[S2-F11] holds nothing that a terminal would obey in the subject of a commit: %s', (_name, title) => {
    expect(Title.safeParse(title).success).toBe(false);
  });

  it.each(['a\rb', 'a\nb', '\t', ''])('is not %j', (title) => {
    expect(Title.safeParse(title).success).toBe(false);
  });

  it.each(['Fix it', 'grün\tund gut', 'עברית \u200f(1)', '👩‍👩‍👧 family', '…'])('is %j', (title) => {
    expect(Title.parse(title)).toBe(title);
  });
});
