import { describe, expect, it } from 'vitest';
import { runHandHistory } from './support/hand-history.ts';
import { BRANCH, STANDARD, STEALTH, type HandMode } from './support/hand-modes.ts';
import { SYNC } from './support/sync-world.ts';

/** In parts, so that a failure is told before all are through. */
const PART = 100;

/** Beyond the seeds of the short run: the first, and how many. */
const MODES: readonly [string, HandMode, number, number][] = [
  ['standard', STANDARD, 10_000, 2_000],
  ['branch', BRANCH, 20_000, 1_000],
  ['stealth', STEALTH, 30_000, 1_000],
];

describe.for(MODES)('[D1] in %s mode', ([, mode, first, histories]) => {
  it.for(Array.from({ length: histories / PART }, (_, part) => first + part * PART))(
    `${PART} histories with an edit by hand in every third step lose none, from seed %i`,
    async (from) => {
      for (let seed = from; seed < from + PART; seed += 1) {
        const outcome = await runHandHistory(seed, SYNC, mode);
        const wrong = [...outcome.failures, ...outcome.falsely];
        const told = wrong.length > 0 ? outcome.told : [];
        expect([seed, ...wrong, ...told]).toEqual([seed]);
      }
    },
  );
});
