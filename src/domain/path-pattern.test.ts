import { describe, expect, it } from 'vitest';
import { LIMITS } from '#kernel/limits.ts';
import { expandBraces } from './expand-braces.ts';
import { parsePathPattern, step, toPlaces } from './path-pattern.ts';

/** Whether a path of a file fits a pattern. */
function fits(pattern: string, path: string): boolean {
  const names = path.split('/');
  return (parsePathPattern(pattern)?.ways ?? []).some((way) => {
    let places = toPlaces(way, [0]);
    let isMet = false;
    for (const name of names) ({ isMet, inside: places } = step(way, places, name));
    return isMet;
  });
}

describe('a pattern for paths', () => {
  it.each([
    ['.env', '.env', true],
    ['.env', 'a/.env', false],
    ['./.env', '.env', true],
    ['.env*', '.env.local', true],
    ['*', 'a', true],
    ['*', '.env', false],
    ['*', 'a/b', false],
    ['?at', 'cat', true],
    ['?at', 'at', false],
    ['?env', '.env', false],
    ['[bc]at', 'cat', true],
    ['[!bc]at', 'cat', false],
    ['[^b-d]at', 'rat', true],
    ['[a-c]*', 'bat', true],
    ['[a-c]*', 'dog', false],
    ['[]]', ']', true],
    ['[x', '[x', true],
    ['a/**', 'a/b/c', true],
    ['a/**', 'a', false],
    ['a/**', 'a/.b/c', false],
    ['**/x', 'x', true],
    ['**/x', 'a/b/x', true],
    ['**/x', 'a/b/y', false],
    ['**/**/x', 'a/x', true],
    ['a/**/x', 'a/x', true],
    ['a/**/b/**/x', 'a/1/b/2/3/x', true],
    ['a/**/b/**/x', 'a/1/2/3/x', false],
    ['**/.env', 'a/.env', true],
    ['conf/{a,b}.json', 'conf/b.json', true],
    ['conf/{a,b}.json', 'conf/c.json', false],
    ['{a,b/{c,d}}/x', 'b/d/x', true],
    ['{a}', '{a}', true],
    ['*.{js,ts}', 'x.ts', true],
    ['conf\\local', 'conf/local', true],
    ['a*b*c', 'a1b2c', true],
    ['a*b*c', 'a1b2', false],
    ['ä?', 'ä😀', true],
  ])('%s and %s: %s', (pattern, path, isFit) => {
    expect(fits(pattern, path)).toBe(isFit);
  });

  it.each([
    '',
    '/etc/passwd',
    '../x',
    'a/../b',
    '{..,a}/x',
    '{.git,a}/config',
    '.GIT/config',
    'c:/x',
    'folder/',
    '@(a|b)',
    'x+(a)',
    '[[:alpha:]]',
    '{1..3}',
    'a'.repeat(LIMITS.copy_pattern_length + 1),
    `${'**/a/'.repeat(LIMITS.copy_pattern_folders + 1)}b`,
    '{a,b}'.repeat(7),
    '{a,b}'.repeat(24),
    `{${'a,'.repeat(LIMITS.copy_pattern_ways)}a}`,
  ])('[B3] is none: %s', (pattern) => {
    expect(parsePathPattern(pattern)).toBeUndefined();
  });

  it('[B3] is matched at once, however often its stars could be read in another way', () => {
    const name = 'a'.repeat(255);
    const longest = Math.floor(LIMITS.copy_pattern_length / 2) - 1;
    for (const pattern of [`${'*a'.repeat(longest)}*b`, `${'*a'.repeat(14)}*b`, `${'?*'.repeat(longest)}b`])
      expect(fits(pattern, name)).toBe(false);
    expect(fits(`${'*a'.repeat(longest)}*`, name)).toBe(true);
    const deep = `${'a/'.repeat(2_000)}a`;
    expect(fits(`${'**/a/'.repeat(LIMITS.copy_pattern_folders)}b`, deep)).toBe(false);
    expect(fits(`${'**/a/'.repeat(LIMITS.copy_pattern_folders)}a`, deep)).toBe(true);
  });
});

describe('braces', () => {
  it('[B3] stand for so many texts at most, and are counted before they are made', () => {
    expect(expandBraces('a{b,c}d{e,f{g,h}}', 64)).toEqual([
      'abde',
      'abdfg',
      'abdfh',
      'acde',
      'acdfg',
      'acdfh',
    ]);
    expect(expandBraces('{a,b}'.repeat(6), 64)).toHaveLength(64);
    expect(expandBraces('{a,b}'.repeat(1_000), 64)).toBeUndefined();
    expect(expandBraces(`${'{a,'.repeat(500)}${'}'.repeat(500)}`, 64)).toBeUndefined();
  });

  it('stand for themselves where they are none', () => {
    for (const text of ['{', '}', 'a{b', '{a}', '${a,b}', '{}', 'a}b{'])
      expect(expandBraces(text, 64)).toEqual([text]);
  });
});
