import { existsSync, readFileSync, truncateSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TempStore } from '../../tests/support/temp-store.ts';
import { FLAWS } from './behaviour/model-behaviour.ts';
import { storeEqualsModel, type Fault } from './behaviour/model-run-behaviour.ts';

/** Seconds on an idle machine; a busy one must not fail it. */
const LONG = { timeout: 120_000 };

// The store against a model of maps and loops: random writes, crashes and rebuilds; after each, both say the same.
describe('random writes', LONG, () => {
  it('leave store and model equal after each, and after replays of the local replica', async () => {
    await fc.assert(storeEqualsModel({}), { numRuns: 20, seed: 20260210 });
  });
});

/** Where the usual one takes many runs to come across the fault; any other finds it too, later. */
const SEEDS: Readonly<Record<string, number>> = {
  'related blocks': 2,
  'parked tasks are ready': 1,
  'reopening keeps the owner': 5,
  'a takeover keeps the fence': 3,
  trg_blocker_changed: 6,
};

// What does not notice a planted fault does not test for it.
describe('planted faults are noticed', LONG, () => {
  it.each(FLAWS)('the model believes: %s', async (flaw) => {
    expect(await notices({ flaw }, SEEDS[flaw])).toBe(true);
  });

  it.each(['trg_dependency_added', 'trg_dependency_removed', 'trg_blocker_changed'])(
    'the store has no %s',
    async (trigger) => {
      const sabotage = (temp: TempStore): void => {
        using db = temp.connect();
        db.exec(`DROP TRIGGER ${trigger}`);
      };
      expect(await notices({ sabotage }, SEEDS[trigger])).toBe(true);
    },
  );

  it('the replica loses the last line before a rebuild', async () => {
    const beforeRebuild = ({ replica }: TempStore): void => {
      if (!existsSync(replica)) return;
      const bytes = readFileSync(replica);
      truncateSync(replica, bytes.lastIndexOf('\n', bytes.length - 2) + 1);
    };
    expect(await notices({ beforeRebuild })).toBe(true);
  });
});

async function notices(fault: Fault, seed = 7): Promise<boolean> {
  const result = await fc.check(storeEqualsModel(fault), { numRuns: 300, seed, endOnFailure: true });
  return result.failed;
}
