import { describe, expect, it } from 'vitest';
import { parseFrontmatter, parseYaml } from './parse-frontmatter.ts';

function fieldsOf(text: string): Record<string, unknown> {
  return Object.fromEntries(parseYaml(text.split('\n')).fields);
}

describe('parseYaml', () => {
  it.each([
    ['plain', 'a: one two', 'one two'],
    ['a colon inside', 'a: one:two', 'one:two'],
    ['single quotes', "a: 'it''s: fine # really'", "it's: fine # really"],
    ['double quotes', String.raw`a: "tab\tquote\" \u00e9 \x41 \\ end"`, 'tab\tquote" é A \\ end'],
    ['a comment behind', 'a: one # two', 'one'],
    ['a comment behind quotes', "a: 'one' # two", 'one'],
    ['a hash without a space', 'a: one#two', 'one#two'],
    ['numbers and dates stay text', 'a: 2026-01-01', '2026-01-01'],
    ['nothing', 'a:', ''],
    ['null', 'a: ~', null],
    ['an empty list', 'a: []', []],
    ['a flow list', `a: [x, 'y, z', "q\\"r", @ada]`, ['x', 'y, z', 'q"r', '@ada']],
    ['a flow list over lines', 'a: [\n  x,\n  y\n]', ['x', 'y']],
    ['an indented list', "a:\n  - x\n  - 'y'", ['x', 'y']],
    ['a list at the margin', 'a:\n- x\n- y', ['x', 'y']],
    ['a folded item', 'a:\n  - >-\n    one\n    two\n  - y', ['one two', 'y']],
    ['folded', 'a: >-\n  one\n  two\n\n  three', 'one two\nthree'],
    ['literal', 'a: |-\n  one\n    two', 'one\n  two'],
    ['a value on the next line', 'a: one\n  two', 'one two'],
    ['a mapping, kept as written', 'a:\n  b: c', '  b: c'],
  ])('%s', (_what, text, value) => {
    expect(fieldsOf(text)).toEqual({ a: value });
  });

  it('takes odd keys as data', () => {
    const { fields } = parseYaml(['__proto__: x', '"quoted: key": y']);
    expect([...fields]).toEqual([
      ['__proto__', 'x'],
      ['quoted: key', 'y'],
    ]);
  });

  it('names what it cannot read, and goes on', () => {
    expect(parseYaml(['{nonsense', 'a: 1', 'a: 2'])).toEqual({
      fields: new Map([['a', '2']]),
      problems: ['"{nonsense" cannot be read', '"a" is there twice; the last one counts'],
    });
  });
});

describe('parseFrontmatter', () => {
  it('parts head and body, whatever the line ends', () => {
    expect(parseFrontmatter('---\r\na: 1\r\n---\r\nBody\r\n---\r\n')).toEqual({
      fields: new Map([['a', '1']]),
      problems: [],
      body: 'Body\n---\n',
    });
  });

  it.each(['', '# Title', '---\na: 1\n'])('finds no head in %j', (text) => {
    expect(parseFrontmatter(text)).toBeUndefined();
  });
});
