import { describe, expect, it } from 'vitest';
import type { RoleHolder } from '#contract/task.ts';
import { deciding } from '../../tests/support/seen-task.ts';
import { decideRole, explainRoleRefusal } from './decide-role.ts';

const TASK = { id: 'fg-a1b2', status: 'in_progress', state: 'in_progress', assignee: 'ann' } as const;
const STATES = {
  todo: { status: 'open', state: 'todo' },
  planning: { status: 'in_progress', state: 'planning' },
  in_progress: { status: 'in_progress', state: 'in_progress' },
  review: { status: 'in_progress', state: 'review' },
} as const;
const HOLDERS = {
  nobody: null,
  ann: { user: 'ann' },
  'ann as an agent': { agent: 'ann' },
  bot: { agent: 'bot' },
} as const satisfies Record<string, RoleHolder | null>;

type State = keyof typeof STATES;
type Holder = keyof typeof HOLDERS;

describe('decideRole, the whole table: a task that ann has, or nobody', () => {
  const all = (Object.keys(STATES) as State[]).flatMap((state) =>
    ['planner', 'coder', 'reviewer'].flatMap((role) =>
      (Object.keys(HOLDERS) as Holder[]).flatMap((holder) =>
        [true, false].flatMap((passed) =>
          ['ann', null].map((assignee) => ({ state, role, holder, passed, assignee })),
        ),
      ),
    ),
  );
  const ROLE_OF: Readonly<Record<State, string>> = {
    todo: '',
    planning: 'planner',
    in_progress: 'coder',
    review: '',
  };

  it('has 192 rows', () => {
    expect(all).toHaveLength(192);
  });

  it.each(all)(
    '$role to $holder, in $state, passed: $passed, of $assignee',
    ({ state, role, holder, passed, assignee }) => {
      const task = { ...TASK, ...STATES[state], assignee, ...(passed && { review_passed_at: 'then' }) };
      const isTaken =
        ROLE_OF[state] === role && assignee !== null && (holder === 'nobody' || holder === 'bot');
      const fields = [
        [`role:${role}`, HOLDERS[holder]],
        ...(role === 'coder' && passed ? [['review_passed_at', null]] : []),
      ];
      const plan = decideRole(task, { role, holder: HOLDERS[holder] }, deciding());
      expect(plan).toEqual({
        outcome: 'assign',
        fields: new Map(fields as [string, null][]),
        clears_reviews: role === 'coder' && (passed || state === 'review'),
        takes: isTaken ? `the role ${role} went to ${holder}` : undefined,
      });
    },
  );
});

describe('a role is not given', () => {
  it.each([
    [
      'by an agent',
      'agent',
      TASK,
      'coder',
      { code: 'permission_denied', message: 'Roles are given by people; an agent cannot change them' },
    ],
    [
      'that the workflow does not have',
      'user',
      TASK,
      'cook',
      {
        code: 'invalid_input',
        message: 'The workflow has no role cook',
        hint: 'forge workflow show',
        details: { role: 'cook', known: ['planner', 'coder', 'reviewer'] },
      },
    ],
    [
      'of a closed task',
      'user',
      { ...TASK, status: 'closed', state: 'done' },
      'coder',
      {
        code: 'state_invalid',
        message: 'fg-a1b2 is closed; nobody works on it any more',
        hint: 'forge task reopen fg-a1b2',
        details: { id: 'fg-a1b2', state: 'done' },
      },
    ],
  ] as const)('%s', (_, who, task, role, error) => {
    const refusal = decideRole(task, { role, holder: null }, deciding(who));
    expect(refusal.outcome === 'assign' ? undefined : explainRoleRefusal(refusal)).toMatchObject(error);
  });

  it.each(['user', 'system'] as const)('but by a %s', (who) => {
    expect(decideRole(TASK, { role: 'coder', holder: null }, deciding(who)).outcome).toBe('assign');
  });
});
