import { describe, expect, it } from 'vitest';
import { NO_AGENTS } from '#domain/claimer.ts';
import { exportLines, exportMoves, fold, shareLines, toRequest } from '../../../tests/support/fold-lines.ts';
import { seededRandom } from '../../../tests/support/random.ts';
import { by, create } from './open-behaviour.ts';
import type { OpenSync, SyncUnderTest } from './open-sync-behaviour.ts';

type Random = ReturnType<typeof seededRandom>;

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

/** One write of any kind; a refusal is one of its outcomes. */
async function write(sut: SyncUnderTest, random: Random): Promise<void> {
  const { store } = sut;
  const tasks = await store.listTasks({ sort: 'id' });
  const pick = () => tasks[random.below(tasks.length)]?.id ?? '';
  const id = pick();
  const word = `w${random.below(1_000)}`;
  const writer = by(sut, random.oneIn(2) ? 'ann' : 'bob', 'user');
  const writes: readonly (() => Promise<unknown>)[] = [
    () => create(sut, word, { labels: random.oneIn(2) ? [word] : [] }),
    () => store.updateTask({ id, title: word }, writer),
    () => store.updateTask({ id, description: word, priority: random.below(5) }, writer),
    () => store.updateTask({ id, labels_add: [word] }, writer),
    () => store.updateTask({ id, metadata_set: new Map([[`k${random.below(3)}`, word]]) }, writer),
    () => store.updateTask({ id, metadata_unset: [`k${random.below(3)}`] }, writer),
    () => store.updateTask({ id, parent_id: random.oneIn(4) ? null : pick() }, writer),
    () => store.addComment({ id, body: word, reply_to: null }, writer),
    () => store.addDependency({ from_id: id, to_id: pick(), type: 'blocks' }, writer),
    () => store.removeDependency({ from_id: id, to_id: pick(), type: undefined }, writer),
    () =>
      store.claimTask({ id, assignee: writer.actor.name, force: random.oneIn(3), agents: NO_AGENTS }, writer),
    () => store.releaseTask({ id, owner: writer.actor.name, force: true, reason: null }, writer),
    () => store.closeTask({ id, reason: word }, writer),
    () => store.reopenTask({ id, reason: null }, writer),
    () => (random.oneIn(3) ? store.deleteTask({ id }, writer) : create(sut, word)),
  ];
  await writes[random.below(writes.length)]?.().catch((error: unknown) => {
    if (!(error instanceof Error) || !('code' in error) || error.code === 'internal') throw error;
  });
}
