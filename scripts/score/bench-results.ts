import type { FileResult } from './judge-item.ts';

/** The page that `npm run bench -- --write` writes. */
export const BENCH_PAGE = 'docs/benchmarks.md';

/** Its rows as results: one that missed its budget says so in its title, and keeps its figures. */
export function readBench(page: string): FileResult {
  const tests = page.split('\n').flatMap((line) => {
    const cells = line.split('|').map((cell) => cell.trim());
    const [, what = '', , ratio = '', budget = '', figures = ''] = cells;
    if (!/^[≤≥]/.test(budget)) return [];
    const title = ratio.includes('missed') ? `missed: ${what}` : what;
    return [{ title, state: 'passed', notes: [figures] }];
  });
  return { at: '', commit: '', failed: 0, tests };
}
