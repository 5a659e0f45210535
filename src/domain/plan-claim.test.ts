import { expect, it } from 'vitest';
import { NOW, seenTask } from '../../tests/support/seen-task.ts';
import { planClaim } from './plan-claim.ts';

it.each([
  ['a free task', {}, false, null, ['status', 'state', 'assignee']],
  ['a free task by force', {}, true, 'forced', ['status', 'state', 'assignee']],
  ['the task of another', { state: 'in_progress', owner: 'ann' }, true, 'forced', ['assignee']],
])('the claim of %s', (_, task, force, reason, changed) => {
  const { record } = seenTask(task);
  const plan = planClaim(record, { assignee: 'bob', state: 'in_progress', force }, { now: NOW });
  expect(plan.after.life).toMatchObject({
    status: 'in_progress',
    state: 'in_progress',
    assignee: 'bob',
    n: record.life.n + 1,
  });
  expect(plan.happening).toEqual({ type: 'task.claimed', changed, reason, forced: force, claimed: true });
});
