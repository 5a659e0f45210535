import { existsSync } from 'node:fs';
import { expect } from 'vitest';
import { claimTask } from '#engine/change-task.ts';
import { inTurns } from '#engine/in-turns.ts';
import { resumeTasks } from '#engine/resume-tasks.ts';
import { RUN_MARKER } from '#executors/executor.ts';
import { findMarked } from '#process/sweep-marked.ts';
import { openDying } from './killed-work.ts';
import type { TempWorkshop } from './temp-workshop.ts';

/** So many agents at work; their watcher is killed, two others find them, and each is ended and settled once. */
export async function expectSettledOnce(shop: TempWorkshop, count: number): Promise<void> {
  const { store } = shop.place;
  shop.addAgent('w1', 'echo begun > x; sleep 600');
  shop.set({ workspace: { ports: 0 } });
  const tasks = await inTurns([...Array.from({ length: count }).keys()], 1, (n) => shop.create(`Task ${n}`));
  const { workshop, dying } = openDying(shop);
  const engine = { ...shop.as(), store: dying.store, work: async () => workshop };
  await inTurns(tasks, 8, ({ id }) => claimTask(engine, { id, assignee: 'w1', force: false }));
  await expect
    .poll(async () => (await store.listOpenRuns()).filter(({ process }) => process !== null).length, {
      timeout: 60_000,
    })
    .toBe(count);
  const runs = await store.listRuns({ open: true });
  dying.kill();
  const others = [shop.workshop, shop.workshop];
  const resumed = (await Promise.all(others.map((one) => resumeTasks(one)))).flat();
  await shop.workshop.settled();
  expect(resumed.map(({ task_id }) => task_id).toSorted()).toEqual(tasks.map(({ id }) => id).toSorted());
  for (const { id } of tasks) expect((await store.getTask(id)).state).toBe('todo');
  const host = await shop.place.processes();
  expect(runs.flatMap(({ id }) => findMarked({ name: RUN_MARKER, value: id }, host))).toEqual([]);
  const { events } = await shop.engine.temp.store.readEvents({ after: 0, limit: 10_000 });
  const ends = events.filter(
    ({ type, data }) => type === 'run.state_changed' && data.includes('"outcome":"crashed"'),
  );
  expect(ends).toHaveLength(count);
  // What they had done is on their branches.
  for (const attempt of await store.listAttempts({})) {
    expect(existsSync(attempt.path)).toBe(true);
    expect(attempt.head_commit).not.toBeNull();
  }
}
