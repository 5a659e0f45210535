import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { assignRole } from './assign-role.ts';
import { tempWorkshop, type TempWorkshop } from '../../tests/support/temp-workshop.ts';

let shop: TempWorkshop;
beforeEach(async () => {
  shop = await tempWorkshop();
  shop.workshop.listen((one) => {
    if (one.kind === 'entry' && JSON.stringify(one.entry).includes('boom')) throw new RangeError('planted');
  });
});
afterEach(() => shop[Symbol.asyncDispose]());

describe('[H2] a run whose output cannot be redacted or kept', () => {
  it('is stopped and settled with the reason, and the next one works', async () => {
    shop.addAgent('loud', 'echo x > x; echo boom; sleep 600');
    const task = await shop.create('Loud');
    expect(await shop.work(task, 'loud')).toMatchObject({
      error_annotation: { code: 'run_failed', message: expect.stringContaining('(RangeError)') },
    });
    const [run] = await shop.place.store.listRuns({ task_id: task.id });
    expect(run).toMatchObject({ state: 'failed' });
    shop.addAgent('quiet', 'echo x > x');
    expect(await shop.work(await shop.create('Quiet'), 'quiet')).toMatchObject({ state: 'review' });
  });

  it('leaves no review open where it was an auditor’s', async () => {
    shop.addAgent('quiet', 'echo x > x');
    shop.addAgent('judge', 'echo boom; sleep 600');
    const task = await shop.create('Judged');
    const resets = { reset_worktree: false, reset_workspace: false };
    await assignRole(shop.as(), { id: task.id, role: 'reviewer', holder: { agent: 'judge' }, ...resets });
    const worked = await shop.work(task, 'quiet');
    expect(worked.error_annotation?.message).toContain('(RangeError)');
    const reviews = await shop.place.store.listReviews({ task_id: task.id });
    expect(reviews.map(({ status }) => status)).not.toContain('running');
  });
});
