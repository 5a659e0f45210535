import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inSoak } from '../support/share-of.ts';
import { initScenario } from '../support/strace-init.ts';
import { mergeScenario } from '../support/strace-merge.ts';
import { WHY_NO_STRACE } from '../support/strace-points.ts';
import { exportScenario, foldScenario, gcScenario, type OpenScenario } from '../support/strace-scenarios.ts';
import { copyProgram, some, sweepKills } from '../support/strace-sweep.ts';

/** Other points on another day: every one of them has to hold, and the soak goes through all. */
const SEED = 3;
const why = WHY_NO_STRACE === undefined ? '' : ` (left out: ${WHY_NO_STRACE})`;

describe.skipIf(WHY_NO_STRACE !== undefined)(`kill -9 at some of the writes${why}`, () => {
  let program: ReturnType<typeof copyProgram>;
  beforeAll(() => {
    program = copyProgram();
  });
  afterAll(() => program[Symbol.dispose]());

  const expectWhole = async (scenario: OpenScenario, count: number): Promise<void> => {
    const { killed, violations } = await sweepKills(scenario, some(count, SEED));
    expect(violations).toEqual([]);
    expect(killed).toBe(count);
  };

  test('the sweep finds a program that writes a file in two steps', async () => {
    await using scenario = await exportScenario(program.script, 8);
    const script = `
      const { readFileSync, writeFileSync, appendFileSync } = require('node:fs');
      const path = '.forge/tasks.jsonl';
      const bytes = readFileSync(path);
      writeFileSync(path, bytes.subarray(0, 700));
      appendFileSync(path, bytes.subarray(700));`;
    const careless: OpenScenario = {
      ...scenario,
      start: (copy, tracer) => {
        const [first, ...words] = [...tracer, process.execPath, '-e', script];
        return scenario.place.exec(first, words, { cwd: copy });
      },
    };
    const { violations } = await sweepKills(careless, (points) =>
      points.filter(({ path, syscall }) => path === join('.forge', 'tasks.jsonl') && syscall !== 'close'),
    );
    expect(violations.join('\n')).toMatch(/tasks\.jsonl is neither the old nor the new one \(700 bytes\)/);
  });

  test('F1 an export leaves the old files or the new ones', async () => {
    await using scenario = await exportScenario(program.script, 24);
    await expectWhole(scenario, 2);
  });

  inSoak(() => {
    test('F2 a fold is all in or not at all, and the next command makes up for it', async () => {
      await using scenario = await foldScenario(program.script, 24);
      await expectWhole(scenario, 2);
    });

    test('F6 a gc leaves files and replica whole, and a second one brings the same', async () => {
      await using scenario = await gcScenario(program.script, 8);
      await expectWhole(scenario, 2);
    });
  });

  test('a merge whose driver is killed ends merged or as a plain conflict, and nothing is lost', async () => {
    await using scenario = await mergeScenario(program.script, 'tasks');
    await expectWhole(scenario, 3);
  });

  test('F5 an init leaves no project or a whole one, and a second one always works', async () => {
    await using scenario = await initScenario(program.script, { files: 'own' });
    await expectWhole(scenario, 5);
  });
});
