import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { initScenario } from '../support/strace-init.ts';
import { mergeScenario } from '../support/strace-merge.ts';
import { WHY_NO_STRACE } from '../support/strace-points.ts';
import {
  exportScenario,
  foldScenario,
  gcScenario,
  importScenario,
  type OpenScenario,
} from '../support/strace-scenarios.ts';
import { copyProgram, some, sweepKills } from '../support/strace-sweep.ts';

/** Of the large ones so many points: nearly all of theirs are writes of the same kind to SQLite's log. */
const OF_LARGE = Number(process.env['FORGE_KILL_POINTS'] ?? 370);
const why = WHY_NO_STRACE === undefined ? '' : ` (left out: ${WHY_NO_STRACE})`;

describe.skipIf(WHY_NO_STRACE !== undefined)(`kill -9 at every write${why}`, () => {
  let program: ReturnType<typeof copyProgram>;
  beforeAll(() => {
    program = copyProgram();
  });
  afterAll(() => program[Symbol.dispose]());

  const SCENARIOS: Readonly<Record<string, { open: () => Promise<OpenScenario>; of?: number }>> = {
    'F1 export of one task': { open: () => exportScenario(program.script, 1) },
    'F1 export': { open: () => exportScenario(program.script, 40) },
    'F1 export of 10,000 tasks': { open: () => exportScenario(program.script, 10_000), of: OF_LARGE },
    'F2 fold of changed files': { open: () => foldScenario(program.script, 40) },
    'F2 import of a file that takes several writes': {
      open: () => importScenario(program.script, 3_500),
      of: OF_LARGE,
    },
    'F6 gc': { open: () => gcScenario(program.script, 12) },
    'merge driver, tasks.jsonl': { open: () => mergeScenario(program.script, 'tasks') },
    'merge driver, history.jsonl': { open: () => mergeScenario(program.script, 'history') },
    'F5 init beside files of the user': { open: () => initScenario(program.script, { files: 'own' }) },
    'F5 init in a bare repository': { open: () => initScenario(program.script, { files: 'none' }) },
  };

  test.for(Object.entries(SCENARIOS))('%s', async ([, { open, of }], { annotate }) => {
    await using scenario = await open();
    const { points, killed, violations } = await sweepKills(
      scenario,
      of === undefined ? undefined : some(of, 1),
    );
    await annotate(`${killed} kills at ${points} points`);
    expect(violations).toEqual([]);
    // The rehearsal may have written something once and for all, such as the cache of compiled code.
    expect(killed).toBeGreaterThanOrEqual(Math.min(of ?? points, points) - 1);
  });
});
