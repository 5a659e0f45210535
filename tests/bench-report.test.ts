import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Result } from '../bench/measure.ts';
import { toPage } from '../bench/report.ts';

const PARTS = ['cold', 'scale', 'claims', 'trees', 'server', 'attempts', 'sync'];
const PAGE = readFileSync(resolve(import.meta.dirname, '../docs/benchmarks.md'), 'utf8');

describe('the page of benchmarks', () => {
  it('keeps the rows of parts that were not measured', () => {
    expect(toPage(PAGE, PARTS, new Map())).toBe(PAGE);
    const once = toPage(PAGE, PARTS, new Map([['trees', [result('a new figure')]]]));
    const rows = (page: string): string[] => page.split('\n').filter((line) => /^\| .* [≤≥] /.test(line));
    const kept = rows(PAGE).filter((row) => !row.includes('`dep tree'));
    expect(kept.length).toBeGreaterThan(10);
    expect(kept.filter((row) => !once.includes(row))).toEqual([]);
    expect(rows(once)).toHaveLength(kept.length + 1);
    expect(once).toMatch(/## trees\n[^#]*\| a new figure \| b \| 1\.00 \| ≤ 2 \| f \|\n\n## s/);
    // A second time it takes the place of the first.
    const again = toPage(once, PARTS, new Map([['trees', [result('a newer figure')]]]));
    expect(again).toBe(once.replace('a new figure', 'a newer figure'));
  });

  it('marks a figure that misses its budget, and no other', () => {
    const page = (one: Partial<Result>): string =>
      toPage('', ['trees'], new Map([['trees', [{ ...result('it'), ...one }]]]));
    expect(page({ ratio: 2.01 })).toContain('| **2.01, missed** | ≤ 2 |');
    expect(page({ ratio: 1.99, sense: 'at least' })).toContain('| **1.99, missed** | ≥ 2 |');
    expect(page({ ratio: 2 })).toContain('| 2.00 | ≤ 2 |');
    expect(page({ ratio: 2, sense: 'at least' })).toContain('| 2.00 | ≥ 2 |');
    // Also of what was measured long ago.
    const rows = [...PAGE.matchAll(/^\| .* \| (\S+)(, missed\*\*)? \| ([≤≥]) (\S+) \|/gm)];
    expect(rows.length).toBeGreaterThan(10);
    for (const [row, ratio = '', missed, sense, budget] of rows) {
      const beyond = Number(ratio.replace('**', '')) - Number(budget);
      expect([row, missed !== undefined]).toEqual([row, sense === '≤' ? beyond > 0 : beyond < 0]);
    }
  });

  it('has no part of a start that takes longer than the whole of it', () => {
    const rows = [...PAGE.matchAll(/first line.* \| (\d+) ms against .* as a cold process (\d+) ms \|$/gm)];
    expect(rows.map(([, inside, whole]) => Number(inside) < Number(whole))).toEqual([true, true, true]);
  });

  it('imports and exports by a worker that runs', () => {
    const worker = resolve(import.meta.dirname, '../bench/workers/sync-work.ts');
    const { status, stdout, stderr } = spawnSync(process.execPath, [worker, 'nothing'], { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(JSON.parse(stdout)).toBeTypeOf('object');
  });

  it.each([['--help'], ['cold', 'typo'], ['--wirte']])('%s starts nothing', (...words) => {
    const run = resolve(import.meta.dirname, '../bench/run.ts');
    const { status, stdout, stderr } = spawnSync(process.execPath, [run, ...words], { encoding: 'utf8' });
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toContain('npm run bench -- [cold|scale|claims|trees|server|attempts|sync]');
  });
});

function result(what: string): Result {
  return { what, baseline: 'b', ratio: 1, budget: 2, sense: 'at most', figures: 'f' };
}
