import { describe, expect, it } from 'vitest';
import { findLastEntry, isTrue, parseGitConfig } from './parse-git-config.ts';

function valueOf(line: string): string | undefined {
  const entries = parseGitConfig(`[user]\n${line}`);
  return entries && findLastEntry(entries, 'user.name')?.value;
}

describe('parseGitConfig', () => {
  it.each([
    ['name = Ada Lovelace', 'Ada Lovelace'],
    ['\tname=Ada\t \t', 'Ada'],
    ['name = Ada # the first', 'Ada'],
    ['name = Ada;the first', 'Ada'],
    ['name = "Ada # the ; first"', 'Ada # the ; first'],
    ['name = "  Ada  "  ', '  Ada  '],
    ['name = Ada" "', 'Ada '],
    ['name = A"d"a', 'Ada'],
    ['name = Ada \\\n  Lovelace', 'Ada   Lovelace'],
    ['name = Ada\\\r\n Lovelace', 'Ada Lovelace'],
    ['name = a\\tb\\nc\\\\d\\"e', 'a\tb\nc\\d"e'],
    ['name = Ada\r\n', 'Ada'],
    ['name = Ada\\', 'Ada'],
    ['NaMe = Ada', 'Ada'],
    ['name = one\nname = two', 'two'],
    ['name =', ''],
    ['name = ""', ''],
    ['name', undefined],
    ['; name = no\n# name = no\nname = yes', 'yes'],
    ['name = Zoë Ångström 名', 'Zoë Ångström 名'],
  ])('reads %j', (line, expected) => {
    expect(valueOf(line)).toBe(expected);
  });

  it.each([
    'name = "open',
    'name = a\\x',
    'name # comment',
    'na_me = x',
    '1name = x',
    '[user',
    '[]',
    '[user ]',
    '[us_er]',
    '[user "x" ]',
    '[user "x\n"]',
    '= x',
  ])('refuses %j as git does', (text) => {
    expect(parseGitConfig(text)).toBeUndefined();
  });

  it('keeps a subsection as written and everything else in lower case', () => {
    const text = '[Branch "Fix \\"A\\" \\\\ b"] ReMote = o\n[CORE.Old] x\n[A][B "c"]y=1';
    expect(parseGitConfig(text)).toEqual([
      { key: 'branch.Fix "A" \\ b.remote', value: 'o' },
      { key: 'core.old.x', value: undefined },
      { key: 'b.c.y', value: '1' },
    ]);
  });

  it('skips a byte order mark and reads an empty file', () => {
    expect(parseGitConfig('\uFEFF[user]name=Ada')).toEqual([{ key: 'user.name', value: 'Ada' }]);
    expect(parseGitConfig('')).toEqual([]);
    expect(parseGitConfig('\n# nothing\n')).toEqual([]);
  });
});

describe('isTrue', () => {
  it.each(['true', 'YES', 'on', '1', '-1', '2k', '007'])('takes %j', (value) => {
    expect(isTrue({ key: 'a.b', value })).toBe(true);
  });
  it.each(['false', 'no', 'OFF', '0', '00', ''])('does not take %j', (value) => {
    expect(isTrue({ key: 'a.b', value })).toBe(false);
  });
  it('takes a name without a value, and not a missing one', () => {
    expect(isTrue({ key: 'a.b', value: undefined })).toBe(true);
    expect(isTrue(undefined)).toBe(false);
  });
});
