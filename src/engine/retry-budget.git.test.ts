import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Verdict } from '#contract/attempt.ts';
import type { Task } from '#contract/task.ts';
import { inSoak } from '../../tests/support/share-of.ts';
import { ANN } from '../../tests/support/temp-engine.ts';
import { tempWorkshop, type TempWorkshop } from '../../tests/support/temp-workshop.ts';
import { assignRole } from './assign-role.ts';
import { reopenTask } from './change-task.ts';
import { openGates } from './gate-changes.ts';
import { giveVerdict } from './give-verdict.ts';
import { resumeTasks } from './resume-tasks.ts';
import { transitionTask } from './transition-task.ts';

let shop: TempWorkshop;
beforeEach(async () => {
  shop = await tempWorkshop();
});
afterEach(() => shop[Symbol.asyncDispose]());

/** Its checks were red as often as they may be. */
async function spendBudget(): Promise<Task> {
  shop.addAgent('w1', 'echo again >> v');
  shop.addAgent('w2', 'echo ok > ok.txt');
  const task = await shop.create('Budget', { steps: ['test -f ok.txt'] });
  const blocked = await shop.work(task, 'w1');
  expect(blocked).toMatchObject({ state: 'blocked', error_annotation: { code: 'retry_budget' } });
  return blocked;
}

const countReviews = async ({ id }: Task): Promise<number> =>
  (await shop.place.store.listReviews({ task_id: id })).length;

describe('a task that spent the budget of its review', () => {
  inSoak(() => {
    it('is merged after a person took it out of the blocked state', async () => {
      const task = await spendBudget();
      await shop.move(task, 'todo');
      const passed = await shop.work(task, 'w2');
      expect(passed).toMatchObject({ state: 'review', review_passed_at: expect.any(String) as string });
      expect(await shop.move(task, 'merging')).toMatchObject({ state: 'done' });
    });
  });

  it('has a whole budget again, and no more', async () => {
    const task = await spendBudget();
    const before = await countReviews(task);
    // To the agent that never gets there: it is started by the move.
    expect(await shop.move(task, 'in_progress')).toMatchObject({ state: 'blocked' });
    expect(await countReviews(task)).toBe(2 * before);
  });

  inSoak(() => {
    it('is merged after a person cancelled and reopened it', async () => {
      const task = await spendBudget();
      await shop.move(task, 'cancelled');
      await reopenTask(shop.as(), { id: task.id, reason: null });
      expect(await shop.work(task, 'w2')).toMatchObject({ state: 'review' });
      expect(await shop.move(task, 'merging')).toMatchObject({ state: 'done' });
    });
  });

  it('gets nothing from an agent that takes it out: nothing is checked, and nobody is asked', async () => {
    const task = await spendBudget();
    const before = await countReviews(task);
    await transitionTask(shop.as({ kind: 'agent', name: 'w1', named: true }), {
      id: task.id,
      to: 'todo',
      reason: null,
    });
    const again = await shop.work(task, 'w2');
    expect(again).toMatchObject({
      state: 'blocked',
      error_annotation: { message: 'review said no 4 times; 3 are allowed' },
    });
    expect(await countReviews(task)).toBe(before);
  });
});

describe('the no of a person', () => {
  const reject = async ({ id }: Task): Promise<void> => {
    await giveVerdict(shop.as(), shop.place.store, {
      id,
      verdict: { verdict: 'reject', summary: 'not yet', findings: [] },
      force: false,
      gates: openGates(shop.place, { may_allow: true }),
    });
    await shop.workshop.settled();
  };

  async function reviewedByAnn(): Promise<Task> {
    shop.addAgent('w1', 'echo again >> v');
    const task = await shop.create('Looked at');
    const reset = { reset_worktree: false, reset_workspace: false };
    const { name: user } = ANN;
    await assignRole(shop.as(), { id: task.id, role: 'reviewer', holder: { user }, ...reset });
    expect(await shop.work(task, 'w1')).toMatchObject({ state: 'review' });
    return task;
  }

  it('spends no budget', async () => {
    const task = await reviewedByAnn();
    for (let said = 0; said < 5; said += 1) await reject(task);
    expect(await shop.place.store.getTask(task.id)).toMatchObject({
      state: 'review',
      counters: { reviews: 6, rejections: 0 },
    });
  });

  inSoak(() => {
    it('spends none either where the process was killed before the task was sent back', async () => {
      const task = await reviewedByAnn();
      const { store, clock } = shop.place;
      const [review] = await store.listReviews({ task_id: task.id });
      const said: Verdict = { verdict: 'reject', summary: 'not yet', findings: [] };
      const by = { actor: ANN, now: clock.now() };
      await store.finishReview(
        { id: review?.id ?? '', status: 'failed', verdict: said, verdict_by: 'user:ann' },
        by,
      );
      await resumeTasks(shop.workshop, { unwatched_ms: -1 });
      await shop.workshop.settled();
      expect(await store.getTask(task.id)).toMatchObject({
        state: 'review',
        counters: { reviews: 2, rejections: 0 },
      });
    });
  });
});

describe('runs that failed', () => {
  it('count no more after a person took the task out of the blocked state', async () => {
    shop.addAgent('w1', 'echo boom >&2; exit 7');
    const task = await shop.create('Boom');
    for (let tries = 0; tries < 2; tries += 1)
      expect(await shop.work(task, 'w1')).toMatchObject({ state: 'todo' });
    expect(await shop.work(task, 'w1')).toMatchObject({ state: 'blocked' });
    await shop.move(task, 'todo');
    expect(await shop.work(task, 'w1')).toMatchObject({ state: 'todo' });
    expect(await shop.work(task, 'w1')).toMatchObject({ state: 'todo' });
    expect(await shop.work(task, 'w1')).toMatchObject({
      state: 'blocked',
      error_annotation: { message: expect.stringMatching(/^3 tries in a row failed/) as string },
    });
  });
});
