import { describe, expect, it } from 'vitest';
import { toIso } from '#kernel/clock.ts';
import { keptApproval, keptRun } from '../../tests/support/kept-work.ts';
import { decideAnswer, decideAsk, EXPIRED, forgetStanding, isStanding } from './decide-approval.ts';

const NOW = Date.UTC(2026, 1, 10, 9);
const BY = { by: 'user:ann', now: NOW };
const ALWAYS = { kind: 'line', text: 'make' } as const;

function told(type: string, approval: object) {
  return [{ type, task_id: 'fg-a1b2', data: { approval } }];
}

describe('decideAsk', () => {
  const wish = { id: 'p-1', tool: 'Bash', input: { a: 1 }, command: 'make', paths: ['b'] };
  const asked = { input: { a: 1 }, paths: ['b'], asked_at: toIso(NOW) };
  it.each([
    ['all of it', wish, asked],
    [
      'a tool alone',
      { id: 'p-1', tool: 'Bash', input: undefined },
      { input: null, command: null, paths: [], asked_at: toIso(NOW) },
    ],
  ])('%s', (_, wanted, more) => {
    const approval = keptApproval(more);
    expect(decideAsk(keptRun(), wanted, NOW)).toEqual({
      outcome: 'save',
      approval,
      events: told('run.approval_requested', approval),
    });
  });

  it('nothing is asked for by a run that has ended', () => {
    const run = keptRun({ state: 'failed', ended_at: toIso(1) });
    expect(decideAsk(run, wish, NOW)).toEqual({
      outcome: 'run_ended',
      id: 'r-1',
      state: 'failed',
      wants: 'approval',
    });
  });
});

describe('decideAnswer', () => {
  it.each(['pending', 'allowed', 'denied', 'expired'] as const)('of one that is %s', (state) => {
    const before = keptApproval({ state });
    const approval = keptApproval({ state: 'allowed', answered_at: toIso(NOW), answered_by: 'user:ann' });
    const events = told('run.approval_given', approval);
    expect(decideAnswer(before, { state: 'allowed' }, BY)).toEqual(
      state === 'pending' ? { outcome: 'save', approval, events } : { outcome: 'answered', approval: before },
    );
  });

  it.each([
    ['with a reason', { state: 'denied', reason: 'no' }, { state: 'denied', reason: 'no', always: null }],
    ['for the rest of the task', { state: 'allowed', always: ALWAYS }, { state: 'allowed', always: ALWAYS }],
    ['by the end of its run', EXPIRED, { state: 'expired', reason: null, always: null }],
  ] as const)('%s', (_, answer, expected) => {
    expect(decideAnswer(keptApproval(), answer, BY)).toMatchObject({ approval: expected });
  });
});

describe('forgetStanding', () => {
  const one = keptApproval({ id: 'p-1', always: ALWAYS });
  const other = keptApproval({ id: 'p-2', always: ALWAYS });
  const once = keptApproval({ id: 'p-3' });
  const gone = keptApproval({ id: 'p-4', always: ALWAYS, forgotten_at: toIso(1) });
  it.each([
    ['all that stand', undefined, ['p-1', 'p-2']],
    ['one by the beginning of its id', 'p-2', ['p-2']],
    ['several that begin alike', 'p-', ['p-1', 'p-2']],
    ['none of another id', 'x', []],
    ['none that was for once', 'p-3', []],
    ['none that is forgotten already', 'p-4', []],
  ])('%s', (_, id, expected) => {
    const plans = forgetStanding([one, other, once, gone], id, NOW);
    expect(plans.map(({ approval }) => approval.id)).toEqual(expected);
    for (const { approval, events } of plans) {
      expect(approval.forgotten_at).toBe(toIso(NOW));
      expect(events).toEqual(told('run.approval_forgotten', approval));
    }
  });

  it('what stands allows something and was not forgotten', () => {
    expect([one, once, gone].map(isStanding)).toEqual([true, false, false]);
  });
});
