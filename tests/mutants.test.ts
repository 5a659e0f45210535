import { describe, expect, it } from 'vitest';
import { applyMutant, findMutants, pickSome } from '../scripts/mutants/find-mutants.ts';
import { findNearestTests } from '../scripts/mutants/nearest-tests.ts';

const changes = (source: string): string[] =>
  findMutants(source).map((mutant) => applyMutant(source, mutant));

describe('mutants', () => {
  it.each([
    ['if (a) b = c;', ['if (!(a)) b = c;', 'if (a) ;']],
    ['const x = a < b ? 1 : y;', ['!(a < b)', '<=', '2']],
    ['const x = a && b;', ['const x = a || b;']],
    ['const x = a === b;', ['const x = a !== b;']],
    ['const x = a + 1;', ['a - 1', 'a + 2']],
    ['await save(x);', [';']],
    ['let on = true;', ['let on = false;']],
  ])('of %s', (source, wanted) => {
    const made = changes(source);
    expect(made).toHaveLength(wanted.length);
    for (const part of wanted) expect(made).toContainEqual(expect.stringContaining(part));
  });

  it.each([
    "import { a } from './a.ts';",
    'type A = { readonly size: 1 | true };',
    'const a = `${b}` + c;',
    "const name = 'text';",
    'console.log(a);',
    'interface A { readonly b: 3 }',
  ])('there is none of %s', (source) => {
    expect(changes(source)).toEqual([]);
  });

  it('name their line, and the same seed gives the same ones', () => {
    const source = 'f(a);\n\nconst x = a >= b;\n';
    expect(findMutants(source).map(({ line, kind }) => [line, kind])).toEqual([
      [1, 'dropped'],
      [3, 'flipped'],
    ]);
    const all = Array.from({ length: 50 }, (_, at) => at);
    expect(pickSome(all, 10, 7)).toEqual(pickSome(all, 10, 7));
    expect(pickSome(all, 10, 7)).not.toEqual(pickSome(all, 10, 8));
    expect(new Set(pickSome(all, 50, 7)).size).toBe(50);
  });
});

it('the nearest tests of a file are its own, those that import it, then those of what imports it', () => {
  const file = (path: string, text: string) => ({ path, text });
  const files = [
    file('src/domain/a.ts', ''),
    file('src/domain/a.test.ts', "import { a } from './a.ts';"),
    file('src/engine/b.ts', "import { a } from '#domain/a.ts';"),
    file('src/engine/b.git.test.ts', "import { b } from './b.ts';"),
    file('src/engine/b.soak.test.ts', "import { b } from './b.ts';"),
    file('tests/long.test.ts', "import { a } from '#domain/a.ts'; // long"),
    file('tests/c.test.ts', "import { aa } from '#domain/aa.ts';"),
  ];
  expect(findNearestTests('src/domain/a.ts', files)).toEqual([
    'src/domain/a.test.ts',
    'tests/long.test.ts',
    'src/engine/b.git.test.ts',
  ]);
  expect(findNearestTests('src/domain/none.ts', files)).toEqual([]);
});
