import { describe, expect, it } from 'vitest';
import { systemActor } from '#domain/actor.ts';
import { foldFiles } from '#sync/fold-files.ts';
import { runHandHistory } from './support/hand-history.ts';
import { SYNC, type SyncWorld } from './support/sync-world.ts';

/** The long run is in hand-histories.soak.test.ts. */
const HISTORIES = 8;
const TIMEOUT_MS = 120_000;

/** Worlds in which edits are lost, each with a history that shows it. */
const MISTAKES: readonly [string, number, Partial<SyncWorld>][] = [
  [
    'a change back is taken for an older file',
    18,
    {
      async fold(clone) {
        const by = { actor: systemActor('fold'), now: clone.now, clock: () => Date.now() };
        await foldFiles(clone.store, clone.files, by);
      },
    },
  ],
  ['a merge takes our side', 0, { mergeTasks: (_base, ours) => ours }],
];

describe('[D1] histories with an edit by hand in every third step', () => {
  it('lose none of them', { timeout: TIMEOUT_MS }, async () => {
    let edits = 0;
    for (let seed = 0; seed < HISTORIES; seed += 1) {
      const outcome = await runHandHistory(seed, SYNC);
      const told = outcome.failures.length > 0 ? outcome.told : [];
      expect([seed, ...outcome.failures, ...told]).toEqual([seed]);
      edits += outcome.edits;
    }
    expect(edits).toBeGreaterThan(5 * HISTORIES);
  });

  it.for(MISTAKES)('find a mistake: %s', { timeout: TIMEOUT_MS }, async ([, seed, mistake]) => {
    const world = { ...SYNC, ...mistake };
    let failures: readonly string[] = [];
    for (let at = seed; at < seed + HISTORIES && failures.length === 0; at += 1) {
      ({ failures } = await runHandHistory(at, world));
    }
    expect(failures).not.toEqual([]);
  });
});
