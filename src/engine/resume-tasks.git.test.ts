import { existsSync, readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dyingStore, goneProcess } from '../../tests/support/dying-store.ts';
import { tempWorkshop, type TempWorkshop } from '../../tests/support/temp-workshop.ts';
import { resumeTasks } from './resume-tasks.ts';
import { workTask } from './work-task.ts';
import { Workshop } from './workshop.ts';

let shop: TempWorkshop;
beforeAll(async () => {
  shop = await tempWorkshop();
  shop.addAgent('w1', 'echo "$FORGE_TASK_ID" > "$FORGE_TASK_ID.txt"');
});
afterAll(() => shop[Symbol.asyncDispose]());

const STEPS = ['test -f "$FORGE_TASK_ID.txt"'];

/** The happy path until so many writes were made. Gives the names of them; `over` when there were no more. */
async function killAfter(lives: number, id: string): Promise<{ writes: readonly string[]; over: boolean }> {
  const { store, writes, died } = dyingStore(shop.place.store, lives);
  const dying = new Workshop({ ...shop.place, store, watcher: goneProcess() });
  const engine = { ...shop.as(), store, work: async () => dying };
  const worked = workTask(dying, engine, { id, agent: 'w1', merge: true });
  const over = await Promise.race([died.then(() => false), worked.then(() => true)]);
  return { writes, over };
}

describe('a process that is killed', () => {
  it('after any of its writes is gone on from by the next start', async () => {
    const points: string[] = [];
    for (let lives = 1; ; lives += 1) {
      const { id } = await shop.create(`Point ${lives}`, { steps: STEPS });
      const { writes, over } = await killAfter(lives, id);
      const point = `${lives} ${writes.at(-1)}`;
      if (over) break;
      const resumed = await resumeTasks(shop.workshop);
      await shop.workshop.settled();
      const { state } = await shop.place.store.getTask(id);
      console.log(point, Date.now() % 1000000);
      points.push(`${point}: ${resumed.map(({ step }) => step).join(', ') || 'none'} -> ${state}`);
      expect(await shop.place.store.listOpenRuns(), point).toEqual([]);
      expect(await shop.place.store.listOpenReviews(), point).toEqual([]);
      expect(await shop.place.store.listOpenMerges(), point).toEqual([]);
      if (state === 'done') continue;
      const worked = await workTask(shop.workshop, shop.as(), { id, agent: 'w1', merge: true });
      expect({ point, reached: worked.reached }).toEqual({ point, reached: true });
    }
    console.log(points.join('\n'));
  }, 120_000);
});
