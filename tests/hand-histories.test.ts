import { describe, expect, it } from 'vitest';
import { systemActor } from '#domain/actor.ts';
import { foldFiles } from '#sync/fold-files.ts';
import { runHandHistory } from './support/hand-history.ts';
import { dropEditedLives } from './support/hand-lives.ts';
import { BRANCH, STANDARD, STEALTH, type HandMode } from './support/hand-modes.ts';
import { shareOf } from './support/share-of.ts';
import { SYNC, type SyncWorld } from './support/sync-world.ts';

/** The long run is in hand-histories.soak.test.ts. */
const HISTORIES = 8;
const TIMEOUT_MS = 120_000;

/** Of each mode, with how many histories. */
const MODES: readonly [string, HandMode, number][] = [
  ['standard', STANDARD, HISTORIES],
  ['branch', BRANCH, HISTORIES / 2],
  ['stealth', STEALTH, HISTORIES / 2],
];

const FORGETFUL: Partial<SyncWorld> = {
  async fold(clone) {
    const by = {
      actor: systemActor('fold'),
      now: clone.now,
      clock: () => Date.now(),
      findHeld: async () => undefined,
    };
    await foldFiles(clone.store, clone.files, by);
  },
};

const DEAF: Partial<SyncWorld> = {
  async fold(clone) {
    await dropEditedLives(clone);
    await SYNC.fold(clone);
  },
};

/** Worlds in which edits are lost, each with a mode and a history that show it. */
const MISTAKES: readonly [string, HandMode, number, Partial<SyncWorld>][] = [
  ['a change back is taken for an older file', STANDARD, 4, FORGETFUL],
  ['so it is in branch mode', BRANCH, 26, FORGETFUL],
  ['so it is in stealth mode', STEALTH, 1, FORGETFUL],
  ['an edit of status or owner is dropped', STANDARD, 0, DEAF],
  ['a merge takes our side', STANDARD, 0, { mergeTasks: (_base, ours) => ours }],
];

describe('[D1] histories with an edit by hand in every third step', () => {
  it.for(MODES)('lose none of them in %s mode', { timeout: TIMEOUT_MS }, async ([, mode, histories]) => {
    let edits = 0;
    const seeds = shareOf([...Array(histories).keys()], 2);
    for (const seed of seeds) {
      const outcome = await runHandHistory(seed, SYNC, mode);
      const wrong = [...outcome.failures, ...outcome.falsely];
      const told = wrong.length > 0 ? outcome.told : [];
      expect([seed, ...wrong, ...told]).toEqual([seed]);
      edits += outcome.edits;
    }
    expect(edits).toBeGreaterThanOrEqual(5 * seeds.length);
  });

  it.for(MISTAKES)('find a mistake: %s', { timeout: TIMEOUT_MS }, async ([, mode, seed, mistake]) => {
    const world = { ...SYNC, ...mistake };
    let failures: readonly string[] = [];
    for (let at = seed; at < seed + HISTORIES && failures.length === 0; at += 1) {
      ({ failures } = await runHandHistory(at, world, mode));
    }
    expect(failures).not.toEqual([]);
  });
});
