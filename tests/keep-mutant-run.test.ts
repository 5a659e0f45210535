import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { keepRun, type MutantRun } from '../scripts/mutants/keep-run.ts';

const run: MutantRun = {
  room: 'engine',
  seed: 1,
  tried: 300,
  killed: 290,
  answered: 10,
  left: 0,
  at: '2026-01-01T00:00:00.000Z',
  commit: 'a1',
};

it('the last run of each room and seed is kept', () => {
  const folder = mkdtempSync(join(tmpdir(), 'forge-runs-'));
  const path = join(folder, 'runs.json');
  for (const one of [
    run,
    { ...run, room: 'domain' },
    { ...run, seed: 2 },
    { ...run, killed: 300, answered: 0 },
  ])
    keepRun(path, one);
  const kept = JSON.parse(readFileSync(path, 'utf8')) as MutantRun[];
  rmSync(folder, { recursive: true });
  expect(kept.map(({ room, seed, killed }) => [room, seed, killed])).toEqual([
    ['domain', 1, 290],
    ['engine', 1, 300],
    ['engine', 2, 290],
  ]);
});
