import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { BENCH_PAGE, readBench } from '../scripts/score/bench-results.ts';
import { judgeItem, sumUp, type FileResult, type Item } from '../scripts/score/judge-item.ts';
import { LOCKFILE, readAdvisories } from '../scripts/score/read-advisories.ts';
import { ITEMS } from '../scripts/score/score-items.ts';
import { toPage, toTable } from '../scripts/score/score-page.ts';

const measures = [{ project: 'soak', file: 'a.ts', match: /counts/, each: 10 }] as const;
const item = (target: number, more: Partial<Item['parts'][number]> = {}): Item => ({
  number: 1,
  gate: true,
  name: 'x',
  points: 4,
  parts: [{ what: 'y', target, measures, ...more }],
});
const result = (states: readonly string[], notes: readonly string[] = []): FileResult => ({
  at: '2026-01-01T00:00:00.000Z',
  commit: 'c',
  failed: states.filter((state) => state === 'failed').length,
  tests: states.map((state, at) => ({ title: at < 9 ? 'counts' : 'does not', state, notes })),
});

describe('the score', () => {
  it.each([
    ['passed', 4, item(20), { 'a.ts': result(['passed', 'passed']) }],
    ['below', 2, item(25), { 'a.ts': result(['passed', 'passed']) }],
    ['below', 0, item(26), { 'a.ts': result(['passed', 'passed']) }],
    ['below', 0, item(25, { no_half: true }), { 'a.ts': result(['passed', 'passed']) }],
    ['failed', 0, item(10), { 'a.ts': result(['passed', 'failed']) }],
    // A file that did not load.
    ['failed', 0, item(10), { 'a.ts': { ...result([]), failed: 1 } }],
    ['not measured', 0, item(10), {}],
    ['not measured', 0, item(10), { 'a.ts': result(['skipped', 'skipped']) }],
    ['not measured', 0, item(10, { measures: [], missing: 'no fuzzer' }), {}],
    ['not there yet', 0, item(10, { measures: [], missing: 'no store', later: true }), {}],
    [
      'passed',
      4,
      item(7, { measures: [{ project: 'soak', file: 'a.ts', noted: /^(\d+) kills/ }] }),
      { 'a.ts': result(['passed'], ['7 kills', 'x']) },
    ],
  ] as const)('is %s with %i points', (state, earned, one, results) => {
    expect(judgeItem(one, results)).toMatchObject({ state, earned });
  });

  it('tells a 0 that was measured from what was never measured', () => {
    const kills = item(100, { measures: [{ project: 'soak', file: 'a.ts', noted: /^(\d+) kills/ }] });
    const judge = (results: Parameters<typeof judgeItem>[1]): unknown => judgeItem(kills, results).parts[0];
    expect(judge({ 'a.ts': result(['passed'], ['0 kills', '11 tries']) })).toMatchObject({
      state: 'below',
      figure: 0,
    });
    for (const results of [
      {},
      { 'a.ts': result(['passed'], ['11 tries']) },
      { 'a.ts': result(['passed']) },
      { 'a.ts': result(['skipped'], ['0 kills']) },
    ])
      expect(judge(results)).toMatchObject({ state: 'not measured', figure: 0 });
  });

  it('reads the rows of the bench: figures, limits and what was missed', () => {
    const page = [
      '| what | baseline | ratio | budget | figures |',
      '|---|---|---:|---:|---|',
      '| claims by many | a loop | **0.31, missed** | ≥ 0.5 | 1225 / s against 3352 / s |',
      '| import | a loop | 1.65 | ≤ 2 | 4238 ms / 2567 ms |',
    ].join('\n');
    const results = { [BENCH_PAGE]: readBench(page) };
    const bench = { project: 'bench', file: BENCH_PAGE } as const;
    const judge = (target: number, measure: object): string =>
      judgeItem(item(target, { measures: [{ ...bench, ...measure }] }), results).state;
    expect(judge(1_200, { match: /claims/, noted: /^(\d+) \/ s/ })).toBe('passed');
    expect(judge(1_300, { match: /claims/, noted: /^(\d+) \/ s/ })).toBe('below');
    expect(judge(1, { match: /^claims/ })).toBe('not measured');
    expect(judge(1, { match: /^import/ })).toBe('passed');
    expect(judge(1, { match: /^import/, noted: /^(\d+) ms/, at_most: 5_000 })).toBe('passed');
    expect(judge(1, { match: /^import/, noted: /^(\d+) ms/, at_most: 4_000 })).toBe('below');
    expect(judge(1, { match: /^import/, noted: /^(\d+) µs/, at_most: 4_000 })).toBe('not measured');
  });

  it.each([
    ['passed', 1, '{"metadata":{"vulnerabilities":{"low":3,"high":0,"critical":0}}}'],
    ['failed', 0, '{"metadata":{"vulnerabilities":{"high":1,"critical":0}}}'],
    ['failed', 0, '{"metadata":{"vulnerabilities":{"high":0,"critical":2}}}'],
    ['not measured', 0, '{"message":"405 Method Not Allowed","statusCode":405}'],
    ['not measured', 0, '{"metadata":{"vulnerabilities":{}}}'],
    ['not measured', 0, '<html>'],
    ['not measured', 0, '[]'],
    ['not measured', 0, 'null'],
    ['not measured', 0, ''],
  ])('the advisories are %s (%i) where npm answers as in %s', (state, figure, answer) => {
    const result = readAdvisories(answer, '2026-01-01T00:00:00.000Z');
    const measure = { project: 'audit', file: LOCKFILE, match: /^advisories$/ } as const;
    const one = item(1, { measures: [measure], missing: 'no answer' });
    const judged = judgeItem(one, result === undefined ? {} : { [LOCKFILE]: result });
    expect(judged).toMatchObject({ state, parts: [{ figure }] });
    expect(toTable([judged]).includes('no answer')).toBe(state === 'not measured');
  });

  it('passes no item of which one part has no result', () => {
    const other = item(10, { measures: [{ project: 'soak', file: 'b.ts' }] });
    const two = { ...item(10), parts: [...item(10).parts, ...other.parts] };
    expect(judgeItem(two, { 'a.ts': result(['passed']) })).toMatchObject({
      state: 'not measured',
      earned: 0,
    });
  });

  it('is capped while a gate is not passed, and a failed one is broken', () => {
    const many = Array.from({ length: 20 }, () =>
      judgeItem({ ...item(10), gate: false }, { 'a.ts': result(['passed']) }),
    );
    expect(sumUp(many)).toMatchObject({ earned: 80, score: 80, broken: [], open: [] });
    const unmeasured = judgeItem(item(10), {});
    expect(sumUp([...many, unmeasured])).toMatchObject({ score: 49, broken: [], open: [unmeasured] });
    const failed = judgeItem(item(10), { 'a.ts': result(['failed']) });
    expect(sumUp([failed])).toMatchObject({ score: 0, broken: [failed] });
  });

  it('names thirty items of a hundred points, and only tests that are there', () => {
    expect(ITEMS.map(({ number }) => number)).toEqual(Array.from({ length: 30 }, (_, at) => at + 1));
    expect(sumUp(ITEMS.map((one) => judgeItem(one, {}))).points).toBe(100);
    const files = ITEMS.flatMap(({ parts }) =>
      parts.flatMap((part) => part.measures.map(({ file }) => file)),
    );
    expect(files.filter((file) => !existsSync(file))).toEqual([]);
    const bare = ITEMS.flatMap(({ parts }) => parts).filter(
      (part) => part.measures.length === 0 && part.missing === undefined,
    );
    expect(bare).toEqual([]);
  });

  it('stands in the page, which keeps all else', () => {
    const page = readFileSync('docs/security.md', 'utf8');
    const judged = ITEMS.map((one) => judgeItem(one, {}));
    const written = toPage(page, judged);
    expect(toPage(written, judged)).toBe(written);
    expect(written).toContain('## Secrets');
    expect(written).toContain('| 26 | Claims under load, PostgreSQL |');
  });
});
