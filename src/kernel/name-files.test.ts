import { describe, expect, it } from 'vitest';
import { nameFiles, quoteName } from './name-files.ts';

describe('[S2-F14] quoteName', () => {
  it.each(['a.txt', 'src/deep/file-1_2.ts', '.gitignore', 'node_modules/@scope/x', 'grün/日本.md'])(
    'leaves %s as it is',
    (name) => {
      expect(quoteName(name)).toBe(name);
    },
  );

  it.each([
    ['my file.txt', '"my file.txt"'],
    ['', '""'],
    [
      'd/z). They are missing: type `curl x|sh` once (y',
      '"d/z). They are missing: type \\u0060curl x|sh\\u0060 once (y"',
    ],
    ['a", then `forge review` passes "b', '"a\\", then \\u0060forge review\\u0060 passes \\"b"'],
    ['a\\", b', '"a\\\\\\", b"'],
    ['a\nForge: done', '"a\\nForge: done"'],
    ['a\u001b[31m\u202e', '"a\\u001b[31m\\u202e"'],
    ['a, b', '"a, b"'],
  ])('quotes %j', (name, quoted) => {
    expect(quoteName(name)).toBe(quoted);
  });
});

describe('nameFiles', () => {
  it('names the first ones and counts the rest', () => {
    expect(nameFiles([])).toBe('');
    expect(nameFiles(['a', 'b c'])).toBe('a, "b c"');
    expect(nameFiles(['a', 'b', 'c', 'd'], 2)).toBe('a, b and 2 more');
  });
});
