import { existsSync, readdirSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openDying } from '../../tests/support/killed-work.ts';
import { tempWorkshop, type TempWorkshop } from '../../tests/support/temp-workshop.ts';
import { recoverProject } from './recover-project.ts';
import { workTask } from './work-task.ts';

let shop: TempWorkshop;
beforeAll(async () => {
  shop = await tempWorkshop();
  shop.addAgent('small', 'echo one > "$FORGE_TASK_ID.txt"');
  shop.addAgent('large', 'printf "%s\\n" one two > "$FORGE_TASK_ID.txt"');
});
afterAll(() => shop[Symbol.asyncDispose]());

const STEPS = ['test -f "$FORGE_TASK_ID.txt"'];
const attempts = { agents: ['large', 'small'], count: 2, pick: 'smallest_green' } as const;

it('several attempts that are killed after any of their writes are gone on from by the next start', async () => {
  const { store } = shop.place;
  for (let lives = 1, over = false; !over; lives += 1) {
    const { id } = await shop.create(`Killed after ${lives}`, { steps: STEPS });
    const run = { id, agent: 'large', merge: true, attempts };
    const { workshop, dying } = openDying(shop, lives);
    const engine = { ...shop.as(), store: dying.store, work: async () => workshop };
    const worked = workTask(workshop, engine, run).then(() => true);
    over = await Promise.race([dying.died.then(() => false), worked]);
    await recoverProject(shop.workshop, { unwatched_ms: 0 });
    await shop.workshop.settled();
    const open = [await store.listOpenRuns(), await store.listOpenReviews(), await store.listOpenMerges()];
    const at = `${lives} ${dying.writes.at(-1)}`;
    expect([at, ...open.flat()]).toEqual([at]);
    if ((await store.getTask(id)).state !== 'done') await workTask(shop.workshop, shop.as(), run);
    const { state, error_annotation } = await store.getTask(id);
    expect([at, state, error_annotation]).toEqual([at, 'done', undefined]);
    expect([at, shop.repo.git('show', `main:${id}.txt`)]).toEqual([at, 'one']);
    const landed = (await store.listMerges({ task_id: id })).filter((merge) => merge.state === 'landed');
    expect([at, landed.length]).toEqual([at, 1]);
    const left = (await store.listAttempts({ task_id: id })).filter(
      ({ removed_at, path }) => removed_at === null || existsSync(path),
    );
    expect([at, ...left]).toEqual([at]);
  }
  expect(readdirSync(shop.place.root)).toEqual([]);
  shop.repo.git('fsck', '--strict');
}, 1_800_000);
