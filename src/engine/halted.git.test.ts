import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Task } from '#contract/task.ts';
import { ANN } from '../../tests/support/temp-engine.ts';
import { tempWorkshop, type TempWorkshop } from '../../tests/support/temp-workshop.ts';
import { dispatchTasks } from './dispatch-tasks.ts';
import type { DispatchWishes } from './scheduler.ts';
import { transitionTask } from './transition-task.ts';
import { workTask } from './work-task.ts';

let shop: TempWorkshop;
beforeEach(async () => {
  shop = await tempWorkshop();
  shop.addAgent('w1', 'echo again >> v');
});
afterEach(() => shop[Symbol.asyncDispose]());

/** As a command does that ends at once: it starts nothing. */
async function sendBack({ id }: Task): Promise<void> {
  await transitionTask({ ...shop.as(), follows: false }, { id, to: 'in_progress', reason: null });
}

const dispatch = (more: Partial<DispatchWishes> = {}) =>
  dispatchTasks(shop.workshop, { merge: true, tell: () => undefined, until_empty: true, ...more });

const countRuns = async ({ id }: Task): Promise<number> =>
  (await shop.place.store.listRuns({ task_id: id })).length;

describe('a task that was sent back to work while nothing ran', () => {
  it('is gone on with in its attempt, within the bounds of its state', async () => {
    shop.set({ scheduler: { per_state: new Map([['in_progress', 1]]) } });
    const task = await shop.create('Back', { steps: ['true'] });
    await shop.work(task, 'w1');
    await sendBack(task);
    expect(await dispatch()).toMatchObject([{ reached: true, task: { id: task.id, state: 'done' } }]);
    expect(await countRuns(task)).toBe(2);
    expect(await shop.place.store.listAttempts({ task_id: task.id })).toHaveLength(1);
    expect(await dispatch()).toEqual([]);
  });

  it.each([
    ['an agent that is not asked for', { agents: ['w2'] }],
    ['an agent that is paused', {}],
  ])('stays where it is with %s', async (_who, wishes) => {
    shop.addAgent('w2', 'true');
    const task = await shop.create('Kept');
    await shop.work(task, 'w1');
    await sendBack(task);
    if (!('agents' in wishes)) shop.paused.add('w1');
    expect(await dispatch(wishes)).toEqual([]);
    expect(await countRuns(task)).toBe(1);
  });
});

describe('a task that was deleted and restored while at work', () => {
  it('is told with the reason and the command that goes on with it', async () => {
    const { store, clock } = shop.place;
    shop.addAgent('w1', 'echo x > x; sleep 600');
    const task = await shop.create('Restored');
    const { id } = task;
    const working = workTask(shop.workshop, shop.as(), { id, agent: 'w1', merge: true });
    await expect.poll(async () => (await store.listRuns({ task_id: id })).at(-1)?.state).toBe('running');
    const by = { actor: ANN, now: clock.now() };
    await store.deleteTask({ id }, by);
    await store.restoreTask({ id }, by);
    const worked = await working;
    const command = `forge run ${id} --agent w1 --merge`;
    const message = `it is in in_progress, and w1 is not at work on it: it was deleted and restored during its run, or claimed anew, and the run was ended`;
    expect(worked).toMatchObject({ reached: false, wait: { message, command } });
    shop.addAgent('w1', 'echo y > y');
    const again = await workTask(shop.workshop, shop.as(), { id, agent: 'w1', merge: true });
    expect(again).toMatchObject({ reached: true, wait: null, task: { state: 'done' } });
  });
});
