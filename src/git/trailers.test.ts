import { describe, expect, it } from 'vitest';
import { addTrailers, hasTrailers } from './trailers.ts';

const TRAILERS = { 'Forge-Task': 'fg-a3f8', 'Forge-Attempt': '35a4' };
const BLOCK = 'Forge-Task: fg-a3f8\nForge-Attempt: 35a4\n';

describe('addTrailers', () => {
  it.each([
    ['a subject', 'Fix it', `Fix it\n\n${BLOCK}`],
    ['a subject that looks like one', 'fix: it', `fix: it\n\n${BLOCK}`],
    [
      'a body',
      'Fix it\n\nBecause.\nSee: below\nand more\n\n\n',
      `Fix it\n\nBecause.\nSee: below\nand more\n\n${BLOCK}`,
    ],
    ['other trailers', 'Fix it\n\nSigned-off-by: A <a@b>\n', `Fix it\n\nSigned-off-by: A <a@b>\n${BLOCK}`],
    [
      'a continued trailer',
      'Fix it\n\nReviewed-by: A\n and B\n',
      `Fix it\n\nReviewed-by: A\n and B\n${BLOCK}`,
    ],
    ['one of them', 'Fix it\n\nforge-task: mine\n', 'Fix it\n\nforge-task: mine\nForge-Attempt: 35a4\n'],
    [
      'the name in the body',
      'Fix it\n\nForge-Task: is\nnot here\n',
      `Fix it\n\nForge-Task: is\nnot here\n\n${BLOCK}`,
    ],
  ])('to %s', (_name, message, expected) => {
    expect(addTrailers(message, TRAILERS)).toBe(expected);
    expect(hasTrailers(message, TRAILERS)).toBe(false);
    expect(addTrailers(expected, TRAILERS)).toBe(expected);
    expect(hasTrailers(expected, TRAILERS)).toBe(true);
  });

  it('to nothing', () => {
    expect(addTrailers('', TRAILERS)).toBe(BLOCK);
  });

  it('keeps a value on its line', () => {
    expect(addTrailers('x', { 'Forge-Task': 'a\nEvil: b' })).toBe('x\n\nForge-Task: a Evil: b\n');
  });
});
