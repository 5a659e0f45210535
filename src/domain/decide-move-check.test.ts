import { describe, expect, it } from 'vitest';
import type { WorkflowState } from '#contract/workflow.ts';
import { deciding, NOW, seenTask } from '../../tests/support/seen-task.ts';
import { decideMoveCheck, needsWorkers, type HookRunner, type MoveCheck } from './decide-move-check.ts';
import { DEFAULT_WORKFLOW } from './default-workflow.ts';
import { claimRecord, closeRecord, editRecord, moveRecord } from './task-changes.ts';
import type { TaskRecord } from './task-record.ts';
import { resolveWorkflow, type ResolvedWorkflow } from './workflow.ts';
import { roleField } from './workflow-fields.ts';

const STARTS_NOBODY: HookRunner = { starts: new Set() };
const STARTS_BOT: HookRunner = { starts: new Set(['bot']) };

interface Asked {
  readonly before: TaskRecord;
  readonly after: TaskRecord;
  readonly runner?: HookRunner | undefined;
  readonly is_worked_on?: boolean;
  readonly happening?: { readonly claimed?: boolean; readonly triggered_by?: string };
  readonly workflow?: ResolvedWorkflow;
  readonly who?: 'user' | 'agent';
}

function check(asked: Asked): MoveCheck | undefined {
  const { before, after, is_worked_on = false, happening, workflow, who = 'user' } = asked;
  const runner = 'runner' in asked ? asked.runner : STARTS_NOBODY;
  return decideMoveCheck(
    { before: { record: before, version: 7 }, after, happening },
    { runner, is_worked_on },
    deciding(who, workflow === undefined ? {} : { workflow }),
  );
}

/** The default workflow with hooks of one state changed. */
function workflowWith(name: string, hooks: Partial<WorkflowState>): ResolvedWorkflow {
  const plain = { before_exit: [], on_exit: [], on_enter: [], after_enter: [], gate_config: undefined };
  const states = DEFAULT_WORKFLOW.states.map((state) => ({
    ...state,
    ...plain,
    ...(state.name === name && hooks),
  }));
  return resolveWorkflow({ ...DEFAULT_WORKFLOW, states });
}

const PLAIN = workflowWith('', {});
const TODO = seenTask().record;
const WORK = seenTask({ state: 'in_progress', owner: 'ann' }).record;
const to = (record: TaskRecord, state: string, status: 'open' | 'in_progress', assignee: string | null) =>
  moveRecord(record, { status, state, assignee }, NOW);
const CLAIMED = claimRecord(TODO, 'bot', NOW);
const CLAIM = { before: TODO, after: CLAIMED, happening: { claimed: true } };

describe('nobody looks at', () => {
  it.each<[string, Asked]>([
    ['a write of one who runs no hooks', { ...CLAIM, runner: undefined, is_worked_on: true }],
    [
      'another title',
      {
        before: WORK,
        after: editRecord(WORK, { fields: new Map([['title', 'B']]) }, NOW),
        is_worked_on: true,
      },
    ],
    [
      'what Forge does on the way',
      {
        before: WORK,
        after: to(WORK, 'todo', 'open', null),
        happening: { triggered_by: 'system' },
        is_worked_on: true,
      },
    ],
    ['a claim of one whom nobody starts', CLAIM],
    [
      'a claim of another than is started',
      { ...CLAIM, after: claimRecord(TODO, 'ann', NOW), runner: STARTS_BOT },
    ],
    ['a release', { before: WORK, after: to(WORK, 'todo', 'open', null) }],
    ['a hand-over to one whom nobody starts', { before: WORK, after: claimRecord(WORK, 'bob', NOW) }],
    ['a reservation', { before: TODO, after: to(TODO, 'todo', 'open', 'bot'), runner: STARTS_BOT }],
  ])('%s', (_, asked) => {
    expect(check(asked)).toBeUndefined();
  });
});

describe('somebody looks at', () => {
  it.each<[string, Asked, Partial<MoveCheck>]>([
    [
      'a claim of a task that is worked on',
      { ...CLAIM, is_worked_on: true },
      { from: 'todo', to: 'in_progress', was: null, owner: 'bot', is_claim: true },
    ],
    ['a claim of an agent that is started', { ...CLAIM, runner: STARTS_BOT }, { owner: 'bot', edge: 'edge' }],
    ['a move that is no claim, because of its guard', { before: TODO, after: CLAIMED }, { is_claim: false }],
    [
      'a move into a gate',
      { before: WORK, after: to(WORK, 'review', 'in_progress', 'ann') },
      { to: 'review', owner: undefined, was: 'ann' },
    ],
    [
      'a close',
      { before: WORK, after: closeRecord(WORK, 'done', NOW, 'done'), workflow: PLAIN },
      { to: 'done', edge: 'close' },
    ],
    [
      'a hand-over to an agent that is started',
      { before: WORK, after: claimRecord(WORK, 'bot', NOW), runner: STARTS_BOT },
      { from: 'in_progress', to: 'in_progress', was: 'ann', owner: 'bot' },
    ],
    [
      'a hand-over while it is worked on',
      { before: WORK, after: claimRecord(WORK, 'bob', NOW), is_worked_on: true },
      { owner: 'bob' },
    ],
    [
      'a release while it is worked on',
      { before: WORK, after: to(WORK, 'todo', 'open', null), is_worked_on: true },
      { edge: 'edge', owner: undefined },
    ],
  ])('%s', (_, asked, expected) => {
    expect(check(asked)).toMatchObject({ id: TODO.id, version: 7, ...expected });
  });
});

describe('a hook of each phase is looked at, where the move comes by it', () => {
  const hook = { action: 'cascade', to: 'blocked' } as const;
  const REVIEW = to(WORK, 'review', 'in_progress', 'ann');
  const CANCELLED = closeRecord(WORK, 'cancelled', NOW, 'cancelled');
  it.each([
    ['before_exit of the state that is left', 'in_progress', 'before_exit', REVIEW, true],
    ['not before_exit, of a cancellation', 'in_progress', 'before_exit', CANCELLED, false],
    ['not before_exit of the state that is entered', 'review', 'before_exit', REVIEW, false],
    ['on_exit of the state that is left', 'in_progress', 'on_exit', REVIEW, true],
    ['on_exit, of a cancellation too', 'in_progress', 'on_exit', CANCELLED, true],
    ['not on_exit of the state that is entered', 'review', 'on_exit', REVIEW, false],
    ['on_enter of the state that is entered', 'review', 'on_enter', REVIEW, true],
    ['not on_enter of the state that is left', 'in_progress', 'on_enter', REVIEW, false],
    ['after_enter of the state that is entered', 'review', 'after_enter', REVIEW, true],
    ['not after_enter of the state that is left', 'in_progress', 'after_enter', REVIEW, false],
    [
      'on_enter of the same state, of a hand-over',
      'in_progress',
      'on_enter',
      claimRecord(WORK, 'bob', NOW),
      true,
    ],
    [
      'after_enter of the same state, of a hand-over',
      'in_progress',
      'after_enter',
      claimRecord(WORK, 'bob', NOW),
      true,
    ],
    ['not on_exit of the same state', 'in_progress', 'on_exit', claimRecord(WORK, 'bob', NOW), false],
    ['not before_exit of the same state', 'in_progress', 'before_exit', claimRecord(WORK, 'bob', NOW), false],
    [
      'not on_enter of the same state without a new owner',
      'in_progress',
      'on_enter',
      { ...WORK, life: { ...WORK.life } },
      false,
    ],
    [
      'not on_enter of the same state without an owner',
      'in_progress',
      'on_enter',
      to(WORK, 'in_progress', 'in_progress', null),
      false,
    ],
  ] as const)('%s', (_, state, phase, after, looked) => {
    const workflow = workflowWith(state, { [phase]: [hook] });
    expect(check({ before: WORK, after, workflow }) !== undefined).toBe(looked);
  });

  it.each([
    ['agent_only', 'user', 'before_exit', true],
    ['agent_only', 'user', 'on_exit', false],
    ['agent_only', 'agent', 'on_exit', true],
    ['user_only', 'agent', 'on_exit', false],
    ['user_only', 'user', 'on_exit', true],
  ] as const)('for %s, by the %s, %s', (audience, who, phase, looked) => {
    const workflow = workflowWith('in_progress', { [phase]: [{ ...hook, audience }] });
    expect(check({ before: WORK, after: REVIEW, workflow, who }) !== undefined).toBe(looked);
  });
});

describe('who would be started', () => {
  const given = (holder: { agent: string } | { user: string }): Asked => {
    const fields = new Map([[roleField('coder'), holder]]);
    return {
      ...CLAIM,
      after: editRecord(claimRecord(TODO, 'ann', NOW), { fields }, NOW),
      runner: STARTS_BOT,
    };
  };
  it.each([
    ['the agent that has the role', given({ agent: 'bot' }), true],
    ['another agent that has it', given({ agent: 'other' }), false],
    ['a person that has it, of the same name', given({ user: 'bot' }), false],
  ])('%s', (_, asked, looked) => {
    expect(check(asked) !== undefined).toBe(looked);
  });

  it('the owner, of a state that is no work but starts somebody', () => {
    const workflow = workflowWith('blocked', { on_enter: [{ action: 'dispatch_role_agent' }] });
    const mine = claimRecord(TODO, 'bot', NOW - 1);
    const blocked = to(mine, 'blocked', 'in_progress', 'bot');
    expect(check({ before: mine, after: blocked, workflow, runner: STARTS_BOT })).toMatchObject({
      owner: undefined,
    });
    const nobody = to(mine, 'blocked', 'in_progress', null);
    expect(check({ before: mine, after: nobody, workflow, runner: STARTS_BOT })).toBeUndefined();
  });
});

describe('a move that was looked at', () => {
  const asked = { ...CLAIM, is_worked_on: true };
  const found = check(asked);
  it.each([
    ['is made', {}, false],
    ['is looked at again at another version', { version: 6 }, true],
    ['is looked at again with another end', { to: 'review' }, true],
    ['is looked at again with another owner', { owner: 'ann' }, true],
    ['is made, whatever it began with', { was: 'x', from: 'x' }, false],
  ])('%s', (_, more, again) => {
    if (found === undefined) throw new Error('it is looked at');
    const runner = { ...STARTS_NOBODY, checked: { ...found, ...more } };
    expect(check({ ...asked, runner }) !== undefined).toBe(again);
  });
});

describe('it counts who is at work', () => {
  const write = { before: { record: TODO, version: 7 }, after: CLAIMED };
  it.each([
    ['where status or owner change', write, STARTS_NOBODY, true],
    ['not where nobody runs hooks', write, undefined, false],
    ['not where they stay', { ...write, after: TODO }, STARTS_NOBODY, false],
    [
      'not for what Forge does on the way',
      { ...write, happening: { triggered_by: 'system' } },
      STARTS_NOBODY,
      false,
    ],
  ])('%s', (_, moving, runner, counts) => {
    expect(needsWorkers(moving, runner)).toBe(counts);
  });
});
