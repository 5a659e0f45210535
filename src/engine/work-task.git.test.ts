import { existsSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Task } from '#contract/task.ts';
import { NO_AGENTS } from '#domain/claimer.ts';
import { DEFAULT_WORKFLOW } from '#domain/default-workflow.ts';
import { shareOf } from '../../tests/support/share-of.ts';
import { ANN } from '../../tests/support/temp-engine.ts';
import { tempWorkshop, type TempWorkshop } from '../../tests/support/temp-workshop.ts';
import { claimTask } from './change-task.ts';
import { resumeTasks } from './resume-tasks.ts';
import { dispatchTasks } from './dispatch-tasks.ts';
import { systemWriter } from './work.ts';
import { workTask } from './work-task.ts';

let shop: TempWorkshop;
beforeEach(async () => {
  shop = await tempWorkshop();
  shop.addAgent('w1', 'echo "$FORGE_TASK_ID" > "$FORGE_TASK_ID.txt"');
});
afterEach(() => shop[Symbol.asyncDispose]());

const SOON = 300;

/** In its merge, with nobody at it: what is left where the disk is full in the moment of the step. */
async function stuckInMerge(): Promise<Task> {
  const task = await shop.create('Stuck', { steps: ['true'] });
  expect(await shop.work(task, 'w1')).toMatchObject({ state: 'review' });
  const { store } = shop.place;
  await store.forgetWatch(task.id);
  const move = { id: task.id, to: 'merging', reason: null, agents: NO_AGENTS };
  const { task: moved } = await store.moveTask(move, systemWriter(shop.place));
  expect(await store.listMerges({ task_id: task.id })).toEqual([]);
  return moved;
}

describe('[B11] a task that stands in its merge with nobody at it', () => {
  it.each(shareOf(['w1', undefined], 2))('is taken up by forge run --merge, agent %s', async (agent) => {
    const { id } = await stuckInMerge();
    const wish = { id, agent, merge: true, unwatched_ms: SOON };
    expect(await workTask(shop.workshop, shop.as(), wish)).toMatchObject({
      reached: true,
      task: { state: 'done' },
    });
  });

  it('is taken up by forge dispatch --merge --until-empty', async () => {
    const { id } = await stuckInMerge();
    const wishes = { merge: true, until_empty: true, unwatched_ms: SOON, tell: () => {} };
    expect(await dispatchTasks(shop.workshop, wishes)).toMatchObject([{ task: { id }, reached: true }]);
  });

  it('is left alone where another process that is alive is at it', async () => {
    const { id } = await stuckInMerge();
    const { store, clock } = shop.place;
    // Of another machine the system knows nothing, and the store has heard nothing yet: it counts as there.
    const watcher = { ...shop.place.watcher, host: 'elsewhere', daemon_id: crypto.randomUUID() };
    await store.takeWatch({ task_id: id, watcher }, clock.now());
    const wish = { id, agent: 'w1', merge: true, unwatched_ms: SOON };
    expect(await workTask(shop.workshop, shop.as(), wish)).toMatchObject({
      reached: false,
      task: { state: 'merging' },
    });
  });
});

describe('[B11] a task without an agent', () => {
  it('is merged where it has passed', async () => {
    const task = await shop.create('Passed', { steps: ['true'] });
    await shop.work(task, 'w1');
    const wish = { id: task.id, agent: undefined, merge: true };
    expect(await workTask(shop.workshop, shop.as(), wish)).toMatchObject({ reached: true, attempts: [] });
  });

  it('needs one where it has to be worked on, and is told whom there is', async () => {
    const { id } = await shop.create('Open');
    const wish = { id, agent: undefined, merge: true };
    await expect(workTask(shop.workshop, shop.as(), wish)).rejects.toMatchObject({
      code: 'usage',
      hint: expect.stringContaining(`forge run ${id} --agent w1`) as string,
    });
  });
});

describe('a task that the caller has', () => {
  it('is kept from an agent, with the command that gives it back', async () => {
    const { id } = await shop.create('Mine');
    await claimTask(shop.as(), { id, assignee: ANN.name, force: false });
    await expect(workTask(shop.workshop, shop.as(), { id, agent: 'w1', merge: true })).rejects.toMatchObject({
      code: 'claim_conflict',
      hint: `forge release ${id}`,
    });
  });
});

describe('a workflow with several gates', () => {
  it('leads a task through all of them to its merge', async () => {
    const review = DEFAULT_WORKFLOW.states.find(({ name }) => name === 'review');
    if (review === undefined) throw new Error('no review');
    const { after_enter: _cascade, ...gate } = review;
    const states = DEFAULT_WORKFLOW.states.flatMap((state) =>
      state === review
        ? [
            { ...gate, next: ['second', 'in_progress'] },
            { ...gate, name: 'second', next: ['third', 'in_progress'] },
            { ...gate, name: 'third', next: ['fourth', 'in_progress'] },
            { ...gate, name: 'fourth', next: ['fifth', 'in_progress'] },
            { ...gate, name: 'fifth', next: ['merging', 'in_progress'] },
          ]
        : [state],
    );
    await using gates = await tempWorkshop({ workflow: { ...DEFAULT_WORKFLOW, states } });
    gates.addAgent('w1', 'echo x > x');
    const { id } = await gates.create('Far', { steps: ['true'] });
    const worked = await workTask(gates.workshop, gates.as(), { id, agent: 'w1', merge: true });
    const moves = await gates.place.store.listTransitions({ id, limit: undefined });
    expect(moves.map(({ to_state }) => to_state)).toEqual([
      'in_progress',
      'review',
      'second',
      'third',
      'fourth',
      'fifth',
      'merging',
      'done',
    ]);
    expect(worked.reached).toBe(true);
  });
});

describe('[B7] a task that was closed elsewhere while its attempt here is unfinished', () => {
  it('keeps the attempt until its work is in the target', async () => {
    const task = await shop.create('Elsewhere', { steps: ['true'] });
    await shop.work(task, 'w1');
    const { store } = shop.place;
    // As a join writes it: no guard and no hook is asked.
    const close = { id: task.id, reason: 'done', force: true };
    await store.closeTask(close, { actor: shop.as().by.actor, now: Date.now() });
    const look = async () => {
      await resumeTasks(shop.workshop, { unwatched_ms: 0 });
      await shop.workshop.settled();
      const [attempt] = await store.listAttempts({ task_id: task.id });
      return attempt;
    };
    const kept = await look();
    expect(kept).toMatchObject({ state: 'active', removed_at: null });
    expect(existsSync(kept?.path ?? '')).toBe(true);
    shop.repo.git('merge', '-q', '--no-ff', '-m', 'by hand', kept?.branch ?? '');
    const merged = await look();
    expect(merged).toMatchObject({ state: 'merged', removed_at: expect.any(String) as string });
    expect(existsSync(kept?.path ?? '')).toBe(false);
  });
});
