import { describe, expect, it } from 'vitest';
import { deciding, NOW, seenTask } from '../../tests/support/seen-task.ts';
import { decideRenewal, planExpiry } from './decide-lease.ts';
import { DEFAULT_RESOLVED } from './workflow.ts';

describe('decideRenewal, the whole table: the claim has the fence 3', () => {
  const lease = { fence: 3, ttl_ms: 60_000 };
  it.each([
    [3, lease, { outcome: 'renew', lease }],
    [3, { ...lease, fence: 2 }, { outcome: 'no_lease', fence: 3 }],
    [3, undefined, { outcome: 'no_lease', fence: 3 }],
    [2, lease, { outcome: 'other_claim', asked: 2 }],
    [2, { ...lease, fence: 2 }, { outcome: 'other_claim', asked: 2 }],
    [2, undefined, { outcome: 'other_claim', asked: 2 }],
  ])('by fence %s, with %j', (fence, known, decision) => {
    const task = seenTask({ state: 'in_progress', owner: 'me' });
    expect(decideRenewal(task, { fence, lease: known })).toEqual(decision);
  });
});

describe('planExpiry', () => {
  it.each([
    ['ann', 'the lease of ann ran out'],
    [null, 'the lease of nobody ran out'],
  ])('gives the task of %s back, as Forge itself', (owner, reason) => {
    const { record } = seenTask({ state: 'in_progress', owner });
    const plan = planExpiry(record, deciding());
    expect(plan.after.life).toMatchObject({
      status: 'open',
      state: DEFAULT_RESOLVED.initial,
      assignee: null,
      written: NOW,
    });
    expect(plan.happening).toEqual({
      type: 'task.released',
      changed: ['status', 'state', 'assignee'],
      reason,
      triggered_by: 'system',
    });
  });
});
