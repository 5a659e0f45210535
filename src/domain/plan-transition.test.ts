import { describe, expect, it } from 'vitest';
import { toIso } from '#kernel/clock.ts';
import { LIMITS } from '#kernel/limits.ts';
import { deciding, NOW } from '../../tests/support/seen-task.ts';
import { DEFAULT_WORKFLOW } from './default-workflow.ts';
import {
  findSpentBudget,
  planTransition,
  type AskedTransition,
  type TransitionFacts,
} from './plan-transition.ts';
import { DEFAULT_RESOLVED, resolveWorkflow } from './workflow.ts';

const REVIEW = { status: 'in_progress', state: 'review' } as const;
const ANNOTATION = { code: 'x', message: 'why' };

function plan(
  asked: Partial<AskedTransition>,
  {
    who = 'agent',
    rejections = {},
    task = REVIEW,
  }: {
    readonly who?: 'user' | 'agent' | 'system';
    readonly rejections?: Readonly<Record<string, number>>;
    readonly task?: TransitionFacts['task'];
  } = {},
) {
  const facts = { task, rejections: new Map(Object.entries(rejections)) };
  return planTransition(facts, { to: 'in_progress', reason: null, ...asked }, deciding(who));
}

describe('a gate says no, the whole table', () => {
  const all = (['user', 'agent', 'system'] as const).flatMap((who) =>
    [true, false, undefined].flatMap((by_person) =>
      ['in_progress', 'merging', 'blocked'].flatMap((to) =>
        ['review', 'merge_failed', 'in_progress'].map((state) => ({ who, by_person, to, state })),
      ),
    ),
  );

  it.each(all)('by $who, of a person: $by_person, from $state to $to', ({ who, by_person, to, state }) => {
    const { rejection, from } = plan({ to, by_person }, { who, task: { status: 'in_progress', state } });
    expect(from).toBe(state);
    expect(rejection).toBe(
      state === 'review' && to === 'in_progress' && who !== 'user' && by_person !== true,
    );
  });
});

describe('a budget', () => {
  // Of the default workflow it is three for review.
  it.each([
    ['is not spent by the third no', { review: 2 }, 'agent', 'in_progress'],
    ['is spent by the fourth', { review: 3 }, 'agent', 'blocked'],
    ['is not spent by a person', { review: 30 }, 'user', 'in_progress'],
    ['is that of its gate', { merging: 30 }, 'system', 'in_progress'],
  ] as const)('%s', (_, rejections, who, to) => {
    expect(plan({}, { rejections, who }).to).toBe(to);
  });

  it('tells why the task waits now, with the last reason', () => {
    const { workflow_fields } = plan(
      { reason: 'too slow', annotation: ANNOTATION },
      { rejections: { review: 3 } },
    );
    expect(workflow_fields.get('error_annotation')).toEqual({
      code: 'retry_budget',
      message: 'review said no 4 times; 3 are allowed. The last time: too slow',
      at: toIso(NOW),
    });
  });

  it('is none where the gate has none, and where nothing can wait', () => {
    expect(findSpentBudget(DEFAULT_RESOLVED, 'todo', { said: 99 })).toBeUndefined();
    const states = DEFAULT_WORKFLOW.states.filter(({ name }) => name !== 'blocked');
    const without = resolveWorkflow({ ...DEFAULT_WORKFLOW, states, blocked_state: 'none' });
    expect(findSpentBudget(without, 'review', { said: 99 })).toBeUndefined();
  });

  it('of one is told as one, and a long reason is cut', () => {
    const message = (last: string | null) =>
      findSpentBudget(DEFAULT_RESOLVED, 'merging', { said: 2, last })?.annotation.message;
    expect(message(null)).toBe('merging said no 2 times; 1 is allowed');
    expect(message('x'.repeat(5_000))).toHaveLength(
      'merging said no 2 times; 1 is allowed. The last time: '.length + LIMITS.inbox_message_length,
    );
  });
});

describe('what stands on the task after it', () => {
  const annotated = { ...REVIEW, error_annotation: { ...ANNOTATION, at: 'then' } };
  const passed = { ...REVIEW, review_passed_at: 'then' };
  it.each([
    ['nothing new', {}, REVIEW, []],
    [
      'why it waits',
      { annotation: ANNOTATION },
      REVIEW,
      [['error_annotation', { ...ANNOTATION, at: toIso(NOW) }]],
    ],
    [
      'another reason',
      { annotation: ANNOTATION },
      annotated,
      [['error_annotation', { ...ANNOTATION, at: toIso(NOW) }]],
    ],
    ['no reason any more', {}, annotated, [['error_annotation', null]]],
    ['that it passed a review, where it goes on', { to: 'merging' }, passed, []],
    [
      'not that it passed an earlier one, where it comes to the next',
      { to: 'review' },
      passed,
      [['review_passed_at', null]],
    ],
    ['nothing of a review that it never passed', { to: 'review' }, REVIEW, []],
  ] as const)('%s', (_, asked, task, fields) => {
    expect([...plan(asked, { task }).workflow_fields]).toEqual(fields);
  });
});
