import { describe, expect, it } from 'vitest';
import { setTrailers } from './trailers.ts';

const TRAILERS = { 'Forge-Task': 'fg-a3f8', 'Forge-Attempt': '35a4' };
const BLOCK = 'Forge-Task: fg-a3f8\nForge-Attempt: 35a4\n';

describe('setTrailers', () => {
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
    ['words about Forge', 'Fix it\n\nForge: a tool\n', `Fix it\n\nForge: a tool\n${BLOCK}`],
    ['nothing', '', `No message\n\n${BLOCK}`],
  ])('after %s', (_name, message, expected) => {
    expect(setTrailers(message, TRAILERS)).toBe(expected);
    expect(setTrailers(expected, TRAILERS)).toBe(expected);
  });

  it.each([
    ['at the end', 'Fix it\n\nForge-Task: fg-zzzz\nForge-Attempt: 9999\nForge-Agent: x\n', 'Fix it\n\n'],
    ['of another case', 'Fix it\n\nforge-task: fg-zzzz\n', 'Fix it\n\n'],
    ['among others', 'Fix it\n\nForge-Task: x\nSigned-off-by: A\n', 'Fix it\n\nSigned-off-by: A\n'],
    [
      'with a continuation',
      'Fix it\n\nForge-Task:\n  fg-zzzz\nSigned-off-by: A\n',
      'Fix it\n\nSigned-off-by: A\n',
    ],
    ['in the body', 'Fix it\n\nForge-Task: fg-zzzz\nis not here\n', 'Fix it\n\nis not here\n\n'],
    ['before the subject', 'Forge-Task: fg-zzzz\nFix it\n', 'Fix it\n\n'],
    ['in the place of the subject', 'Forge-Task: fg-zzzz\n', 'No message\n\n'],
    ['behind a space', 'Fix it\n\n Forge-Task : fg-zzzz\n', 'Fix it\n\n'],
  ])("[S2-F7] leaves no trailer of Forge's that the agent wrote: %s", (_name, message, kept) => {
    expect(setTrailers(message, TRAILERS)).toBe(`${kept}${BLOCK}`);
  });

  it('keeps a value on its line', () => {
    expect(setTrailers('x', { 'Forge-Task': 'a\nEvil: b' })).toBe('x\n\nForge-Task: a Evil: b\n');
  });
});
