import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WHY_NO_STRACE, type WritePoint } from '../support/strace-points.ts';
import { exportScenario, foldScenario, gcScenario, type OpenScenario } from '../support/strace-scenarios.ts';
import { copyProgram, some, sweepErrors, type Swept } from '../support/strace-sweep.ts';

const why = WHY_NO_STRACE === undefined ? '' : ` (left out: ${WHY_NO_STRACE})`;
/** Calls that a full disk makes fail. */
const NEEDS_ROOM = /^(write|pwrite64|openat|rename|ftruncate|mkdir)$/;

describe.skipIf(WHY_NO_STRACE !== undefined)(`calls that fail${why}`, () => {
  let program: ReturnType<typeof copyProgram>;
  beforeAll(() => {
    program = copyProgram();
  });
  afterAll(() => program[Symbol.dispose]());

  /** Of the points that are no more than SQLite's shared memory only few. */
  const pick = (which: RegExp, count: number, seed: number) => (points: readonly WritePoint[]) =>
    some(count, seed)(points.filter(({ syscall, path }) => which.test(syscall) && !path.endsWith('-shm')));
  const expectClean = ({ violations, killed }: Swept): void => {
    expect(violations).toEqual([]);
    expect(killed).toBeGreaterThan(2);
  };

  const SCENARIOS: Readonly<Record<string, () => Promise<OpenScenario>>> = {
    export: () => exportScenario(program.script, 12),
    fold: () => foldScenario(program.script, 24),
    gc: () => gcScenario(program.script, 6),
  };

  test.for(Object.keys(SCENARIOS))(
    'F10 no space left in %s: a clear error, whole files, and it works once there is room',
    async (name) => {
      await using scenario = (await SCENARIOS[name]?.()) ?? expect.fail(name);
      const full = { error: 'ENOSPC', says: /^forge: .+/ };
      expectClean(await sweepErrors(scenario, pick(NEEDS_ROOM, 4, 1), full));
    },
  );

  test.for(Object.keys(SCENARIOS))(
    'F11 a sync that fails in %s is never taken for one that worked',
    async (name) => {
      await using scenario = (await SCENARIOS[name]?.()) ?? expect.fail(name);
      const failed = { error: 'EIO', says: /^forge: .+/ };
      expectClean(await sweepErrors(scenario, pick(/^(fsync|fdatasync)$/, 4, 2), failed));
    },
  );
});
