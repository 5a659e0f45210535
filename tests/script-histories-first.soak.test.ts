import { expect, it } from 'vitest';
import { runSeed, type ScriptMode } from './support/script-history.ts';

/** Short ones, whose failures are quickly read; script-histories.soak.test.ts has more and longer ones. */
const HISTORIES: readonly [ScriptMode, number][] = [
  ['standard', 1],
  ['branch', 3],
];
const STEPS = 14;

it.for(HISTORIES)(
  '[D1] edits by commands, hands, scripts and a server lose nothing: %s mode, seed %i',
  async ([mode, seed]) => {
    const { lost, reverted, told } = await runSeed(seed, mode, STEPS);
    const failures = [...lost, ...reverted];
    expect([...failures, ...(failures.length > 0 ? told : [])]).toEqual([]);
  },
);
