import { describe, expect, it } from 'vitest';
import { runHandHistory } from './support/hand-history.ts';
import { BRANCH, STANDARD, STEALTH, type HandMode } from './support/hand-modes.ts';
import { SYNC } from './support/sync-world.ts';

/** In parts, so that a failure is told before all are through. */
const PART = 100;

/**
 * Beyond the seeds of the short run: the first, how many, and in how many of a part a value may be told as lost although
 * a writer who saw it replaced it. An edited line that git brings before any command has seen it gets a stamp of its own
 * in each clone, so that what one clone notes of it does not name it in another.
 */
const MODES: readonly [string, HandMode, number, number, number][] = [
  ['standard', STANDARD, 10_000, 2_000, 3],
  ['branch', BRANCH, 20_000, 1_000, 0],
  ['stealth', STEALTH, 30_000, 1_000, 0],
];

describe.for(MODES)('[D1] in %s mode', ([, mode, first, histories, most]) => {
  it.for(Array.from({ length: histories / PART }, (_, part) => first + part * PART))(
    `${PART} histories with an edit by hand in every third step lose none, from seed %i`,
    async (from) => {
      const falsely: string[] = [];
      for (let seed = from; seed < from + PART; seed += 1) {
        const outcome = await runHandHistory(seed, SYNC, mode);
        const told = outcome.failures.length > 0 ? outcome.told : [];
        expect([seed, ...outcome.failures, ...told]).toEqual([seed]);
        if (outcome.falsely.length > 0) falsely.push(`${seed}: ${outcome.falsely.join('; ')}`);
      }
      expect([falsely.length <= most, falsely]).toEqual([true, falsely]);
    },
  );
});
