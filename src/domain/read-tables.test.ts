import { describe, expect, it } from 'vitest';
import { readTables } from './read-tables.ts';

const POE = /^tool[.]poe\b/;
const TASKS = /^(?:.*[.])?tasks\b/;

describe('[S2-F6] the tables of a file', () => {
  it.each([
    [
      'of that name',
      '[project]\nname = "a"\n\n[tool.poe.tasks]\ntest = "pytest"\n',
      POE,
      '[tool.poe.tasks]\ntest = "pytest"',
    ],
    [
      'and nothing of others',
      '[project]\ndependencies = [\n  "a",\n  ["b"],\n]\n[tool.x]\n# y\nz = {a = 1}\n',
      POE,
      '',
    ],
    ['however they are spelt', '  [[ tool.poe.x ]] # more\na = 1', POE, '  [[ tool.poe.x ]] # more\na = 1'],
    [
      'also where several are',
      '[tool.poe]\na=1\n[x]\nb=1\n[tool.poe.env]\nc=1',
      POE,
      '[tool.poe]\na=1\n[tool.poe.env]\nc=1',
    ],
  ])('are those %s', (_name, text, wanted, part) => {
    expect(readTables(text, wanted)).toBe(part);
  });

  it.each([
    [
      'a text over several lines, which may look like a table',
      '[tool.poe.tasks]\nx = """\n[project]\n"""\ntest = "true"',
      POE,
    ],
    ['the same in single quotes', "x = '''\n'''", POE],
    ['a key with dots at the top', 'tool.poe.tasks.test = "true"', POE],
    ['a key with dots in a table above', '[tool]\npoe.tasks.test = "true"', POE],
    ['a key in quotes', '[tool]\n"poe".tasks.test = "true"', POE],
    ['a key with an escape', '"to\\u006fl".poe.tasks.test = "true"', POE],
    ['a table as a value', '[tool]\npoe = { tasks = { test = "true" } }', POE],
    ['a table as a value above', 'tool = { poe = { tasks = { test = "true" } } }', POE],
    ['a table deep in a value', 'feature = { x = { tasks = { test = "true" } } }', TASKS],
    ['a name in quotes', '["tool".poe.tasks]\ntest = "true"', POE],
    ['an array that looks like a table', '[tool.poe.tasks]\nx = [\n[true]\n]\ntest = "true"', POE],
    ['an array of numbers that looks like a table', '[tool.poe.tasks]\nx = [\n[1]\n]\ntest = "true"', POE],
  ])('cannot be told from the rest with %s', (_name, text, wanted) => {
    expect(readTables(text, wanted)).toBeUndefined();
  });
});
