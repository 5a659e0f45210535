import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { chooseSources } from '../scripts/mutants/choose-sources.ts';
import { applyMutant, findMutants, pickSome } from '../scripts/mutants/find-mutants.ts';
import { openVerdicts, type PlacedMutant } from '../scripts/mutants/keep-verdicts.ts';
import { joinReach, listReaching } from '../scripts/mutants/measure-reach.ts';
import { listTestsOf } from '../scripts/mutants/nearest-tests.ts';
import { findPointAt, findReachPoints, instrument } from '../scripts/mutants/reach-points.ts';
import { tempFolder } from './support/temp-repo.ts';

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

describe('the files of a room in which mutants are made', () => {
  const files = [
    'src/domain/join.ts',
    'src/domain/join.test.ts',
    'src/domain/decide-move.ts',
    'src/domain/decide-life.ts',
    'src/domain/claim-behaviour.ts',
    'src/domain/names.generated.ts',
    'src/engine/join.ts',
  ].map((path) => ({ path, text: '' }));

  it.each([
    [undefined, ['join', 'decide-move', 'decide-life']],
    ['join', ['join']],
    ['decide-*', ['decide-move', 'decide-life']],
    ['decide-life.ts, join', ['join', 'decide-life']],
  ])('by the names %s', (names, wanted) => {
    const chosen = chooseSources(files, 'src/domain/', names).map(({ path }) => path);
    expect(chosen).toEqual(wanted.map((name) => `src/domain/${name}.ts`));
  });

  it('are not chosen by a name that none of them has', () => {
    expect(() => chooseSources(files, 'src/domain/', 'join,decide')).toThrow(
      'No file decide.ts in src/domain/',
    );
  });
});

it('the tests near a file are its own, those that import it, those of what imports it, and those that share it', () => {
  const file = (path: string, text: string) => ({ path, text });
  const files = [
    file('src/domain/a.ts', ''),
    file('src/domain/a.test.ts', "import { a } from './a.ts';"),
    file('src/engine/b.ts', "import { a } from '#domain/a.ts';"),
    file('src/engine/b.git.test.ts', "import { b } from './b.ts';"),
    file('src/engine/b.soak.test.ts', "import { b } from './b.ts';"),
    file('tests/long.test.ts', "import { a } from '#domain/a.ts'; // long"),
    file('tests/c.test.ts', "import { aa } from '#domain/aa.ts';"),
    file('tests/support/d.ts', "import { b } from '#engine/b.ts';"),
    file('tests/d.git.test.ts', "import { d } from './support/d.ts';"),
    file('tests/e2e/d.e2e.test.ts', "import { d } from '../support/d.ts';"),
  ];
  expect(listTestsOf(['src/domain/a.ts'], files)).toEqual([
    'src/domain/a.test.ts',
    'src/engine/b.git.test.ts',
    'tests/d.git.test.ts',
    'tests/long.test.ts',
  ]);
  expect(listTestsOf(['src/domain/none.ts'], files)).toEqual([]);
});

describe('what a test comes to', () => {
  const source = [
    'const top = 1;',
    'export function f(a: number): number {',
    '  if (a > 0) return g(a);',
    '  for (const b of [a]) h(b);',
    '  return [a].map((b) => ({ b }))[0].b;',
    '}',
  ].join('\n');
  const points = findReachPoints(source);
  const shown = (text: string): string | undefined => {
    const point = points[findPointAt(points, source.indexOf(text)) ?? -1];
    return point && source.slice(point.start, point.end);
  };

  it('is known for every statement, branch and short function', () => {
    expect(shown('top')).toBeUndefined();
    expect(shown('a > 0')).toBe('if (a > 0) return g(a);');
    expect(shown('g(a)')).toBe('return g(a);');
    expect(shown('h(b)')).toBe('h(b);');
    expect(shown('{ b }')).toBe('{ b }');
  });

  it('is noted by calls that move no line', () => {
    const made = instrument(source, (point) => `n(${point})`);
    expect(made.split('\n')).toHaveLength(source.split('\n').length);
    for (const [at] of points.entries()) expect(made).toContain(`n(${at})`);
    expect(made).toContain('(b) => ({ b })'.replace('{ b }', `(n(${points.length - 1}), { b })`));
  });

  it('is run for a change of it, the quick cases first; a change at the top is run with all', () => {
    const one = (name: string, took_ms: number) => ({ path: 'a.test.ts', name, took_ms, passed: true });
    const cases = [one('slow', 9), one('quick', 1), one('other', 5)];
    const reached = { 'a.ts': points.map((_, at) => (at === 0 ? [0, 1] : at === 1 ? [2] : [])) };
    const names = (place: number): string[] =>
      listReaching({ cases, reached }, { path: 'a.ts', text: source }, place).map(({ name }) => name);
    expect(names((points[0]?.start ?? 0) + 1)).toEqual(['quick', 'slow']);
    expect(names(0)).toEqual(['quick', 'other', 'slow']);
    expect(listReaching({ cases, reached: {} }, { path: 'a.ts', text: source }, 0)).toEqual([]);
  });
});

it('what was measured of a test file is kept until that file changes', () => {
  const one = (path: string, name: string) => ({ path, name, took_ms: 1, passed: true });
  const before = {
    cases: [one('a.test.ts', 'old'), one('b.test.ts', 'same'), one('gone.test.ts', 'gone')],
    reached: { 'x.ts': [[0, 1], [2]], 'y.ts': [[1]] },
  };
  const now = { cases: [one('a.test.ts', 'new')], reached: { 'x.ts': [[], [0]] } };
  expect(joinReach(before, now, ['b.test.ts'])).toEqual({
    cases: [one('b.test.ts', 'same'), one('a.test.ts', 'new')],
    reached: { 'x.ts': [[0], [1]], 'y.ts': [[0]] },
  });
});

describe('a verdict that was kept', () => {
  const mutant = (path: string): PlacedMutant => ({
    path,
    kind: 'dropped',
    line: 1,
    start: 0,
    end: 5,
    from: 'f(a);',
    to: ';',
  });
  const tests = (first: string, second: string) => [
    { path: 'a.test.ts', text: first },
    { path: 'b.test.ts', text: second },
  ];

  it('is found by the next run, also where the one before was killed while it wrote', async () => {
    await using folder = await tempFolder();
    const kept = join(folder.path, 'kept');
    const first = openVerdicts(kept, tests('1', '1'));
    expect(first.find(mutant('x.ts'))).toBeUndefined();
    first.add(mutant('x.ts'), 'killed', ['a.test.ts']);
    first.add(mutant('y.ts'), 'survived', []);
    appendFileSync(kept, '{"mutant":');
    const next = openVerdicts(kept, tests('1', '1'));
    expect(['x.ts', 'y.ts', 'z.ts'].map((path) => next.find(mutant(path)))).toEqual([
      'killed',
      'survived',
      undefined,
    ]);
    expect(next.find({ ...mutant('x.ts'), to: '!(f)' })).toBeUndefined();
  });

  it('counts until a test changes that killed the mutant, or any test where none noticed it', async () => {
    await using folder = await tempFolder();
    const kept = join(folder.path, 'kept');
    const first = openVerdicts(kept, tests('1', '1'));
    first.add(mutant('x.ts'), 'killed', ['a.test.ts']);
    first.add(mutant('y.ts'), 'untested', []);
    const other = openVerdicts(kept, tests('1', '2'));
    expect(other.find(mutant('x.ts'))).toBe('killed');
    expect(other.find(mutant('y.ts'))).toBeUndefined();
    expect(openVerdicts(kept, tests('2', '1')).find(mutant('x.ts'))).toBeUndefined();
    const added = [...tests('1', '1'), { path: 'c.test.ts', text: '' }];
    expect(openVerdicts(kept, added).find(mutant('y.ts'))).toBeUndefined();
  });
});

describe('why a mutant does not matter', () => {
  interface Answer {
    readonly path: string;
    readonly line: string;
    readonly from: string;
    readonly to: string;
    readonly reason: string;
  }
  const root = join(import.meta.dirname, '..');
  const answers = JSON.parse(readFileSync(join(root, 'tests/mutants.json'), 'utf8')) as readonly Answer[];

  it.each(answers)('is said of one that can still be made: $path: $from -> $to', (answer) => {
    const { path, line, from, to, reason } = answer;
    const source = readFileSync(join(root, path), 'utf8');
    const lines = source.split('\n').map((text) => text.trim());
    const made = findMutants(source).filter((one) => lines[one.line - 1] === line);
    expect(made).toContainEqual(expect.objectContaining({ from, to }));
    expect(reason).toMatch(/^[A-Z].{20,}\.$/);
  });

  it('is said once', () => {
    const keys = answers.map(({ path, line, from, to }) => JSON.stringify([path, line, from, to]));
    expect(new Set(keys).size).toBe(keys.length);
  });
});
