import { expect, it } from 'vitest';
import { runSeed, type ScriptMode } from './support/script-history.ts';
import { shareOf } from './support/share-of.ts';

/** More of them, and longer ones, are in the soak. */
const HISTORIES: readonly [ScriptMode, number][] = [
  ['standard', 1],
  ['branch', 3],
];
const STEPS = 14;

it.for(shareOf(HISTORIES, 2))(
  '[D1] edits by commands, hands, scripts and a server lose nothing: %s mode, seed %i',
  async ([mode, seed]) => {
    const { lost, reverted, told } = await runSeed(seed, mode, STEPS);
    const failures = [...lost, ...reverted];
    expect([...failures, ...(failures.length > 0 ? told : [])]).toEqual([]);
  },
);
