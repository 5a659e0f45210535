import { describe, expect, it } from 'vitest';
import { Title } from './task.ts';

describe('Title', () => {
  it.each([
    'a\u001b[31m',
    'a\u0007',
    '\u009b31m',
    'a\u007f',
    'a\u202eb',
    'a\u2066b',
    'a\rb',
    'a\nb',
    '\t',
    '',
  ])('[S2-F11] is not %j, which a terminal would obey in the subject of a commit', (title) => {
    expect(Title.safeParse(title).success).toBe(false);
  });

  it.each(['Fix it', 'grün\tund gut', 'עברית \u200f(1)', '👩‍👩‍👧 family', '…'])('is %j', (title) => {
    expect(Title.parse(title)).toBe(title);
  });
});
