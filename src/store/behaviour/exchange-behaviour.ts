import { describe, expect, it } from 'vitest';
import { exportLines, exportMoves, fold, shareLines, toRequest } from '../../../tests/support/fold-lines.ts';
import { seededRandom, type Random } from '../../../tests/support/random.ts';
import { by } from './open-behaviour.ts';
import type { OpenSync, SyncUnderTest } from './open-sync-behaviour.ts';
import { drawWrite, outcomeOf } from './random-writes-behaviour.ts';

const STEPS = 25;

/** Two stores that write without knowing of each other and then exchange what they hold become equal. */
export function describeExchange(name: string, open: OpenSync, openOther: OpenSync): void {
  describe(`two stores that exchange their exports, ${name}`, () => {
    it.each([1, 2, 3, 4, 5, 6])('become equal, and stay so (seed %i)', async (seed) => {
      const random = seededRandom(seed);
      await using here = await open();
      await using there = await openOther();
      for (let round = 0; round < 3; round += 1) {
        for (const sut of [here, there]) {
          // The clocks of two machines differ.
          sut.clock.advance(random.below(100_000));
          for (let step = 0; step < STEPS; step += 1) await write(sut, random);
        }
        // The second time round there is nothing that only one of them knows.
        for (let exchange = 0; exchange < 2; exchange += 1) {
          await bring(here, there);
          await bring(there, here);
        }
        const [ours, theirs] = [await hold(here), await hold(there)];
        expect(ours.lines.length).toBeGreaterThan(0);
        expect(ours).toEqual(theirs);
      }
    });
  });
}

async function bring(from: SyncUnderTest, to: SyncUnderTest): Promise<void> {
  await fold(to, await shareLines(from));
  const writer = { actor: { kind: 'system', name: 'fold', named: true }, now: to.clock.now() } as const;
  await to.store.foldHistory(toRequest(await exportMoves(from), { path: 'history' }), writer);
}

/** What both must hold: lines and moves to the byte, and what is concluded from them. */
async function hold(sut: SyncUnderTest) {
  const { store } = sut;
  const ready = (await store.listReady({})).map(({ id }) => id);
  const conflicts = await store.listConflicts(undefined);
  const tasks = (await store.listTasks({ sort: 'id', include_archived: true })).map(
    ({ version: _own, ...task }) => task,
  );
  return { lines: await exportLines(sut), moves: await exportMoves(sut), ready, conflicts, tasks };
}

async function write(sut: SyncUnderTest, random: Random): Promise<void> {
  const ids = (await sut.store.listTasks({ sort: 'id' })).map(({ id }) => id);
  const drawn = drawWrite(random, { ids, makes: true });
  await outcomeOf(drawn(sut.store, by(sut, random.pick(['ann', 'bob']), 'user')));
}
