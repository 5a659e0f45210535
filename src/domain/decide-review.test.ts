import { describe, expect, it } from 'vitest';
import type { Review, StepResult, Verdict } from '#contract/attempt.ts';
import type { Actor } from './actor.ts';
import {
  askPeople,
  describeFailure,
  decideReview,
  decideSpeaker,
  doesOnEnter,
  findClearing,
  findGateHolder,
  findPass,
  parseFinding,
  type GateHolder,
  type ReviewFacts,
  withoutOwnAudit,
  withoutSpentAudits,
} from './decide-review.ts';
import { DEFAULT_RESOLVED } from './workflow.ts';

const step = (outcome: StepResult['outcome']): StepResult => ({
  command: 'npm test',
  exit_code: outcome === 'passed' ? 0 : 1,
  duration_ms: 1,
  output: 'tail',
  outcome,
});
const NONE: GateHolder = { kind: 'none' };
const MANAGED: GateHolder = { kind: 'managed', name: 'critic' };
const EXTERNAL: GateHolder = { kind: 'external', name: 'ext1' };
const PERSON: GateHolder = { kind: 'person', name: 'ann' };
const PASS: Verdict = { verdict: 'pass', summary: 'fine', findings: [] };
const REJECT: Verdict = { verdict: 'reject', summary: 'no', findings: [] };
const withFinding = (severity: 'blocker' | 'major' | 'minor'): Verdict => ({
  ...PASS,
  findings: [{ severity, message: 'it leaks' }],
});

describe('what becomes of a review', () => {
  const facts: ReviewFacts = { holder: NONE, has_attempt: true, steps: [step('passed')], verdict: null };

  it.each([
    ['nobody holds the gate', {}, 'passed'],
    ['nobody, and nothing to check', { steps: [] }, 'passed'],
    ['an agent of ours holds it', { holder: MANAGED }, 'audit'],
    [
      'an agent of ours, and there is nothing to show it',
      { holder: MANAGED, has_attempt: false },
      'waits_for_holder',
    ],
    ['[H1] an external agent holds it', { holder: EXTERNAL }, 'waits_for_holder'],
    ['[H1] a person holds it', { holder: PERSON }, 'waits_for_holder'],
    [
      '[H1] a person, and nothing to check',
      { holder: PERSON, has_attempt: false, steps: [] },
      'waits_for_holder',
    ],
    ['a person said pass', { holder: PERSON, verdict: PASS }, 'passed'],
    ['a person said no', { holder: PERSON, verdict: REJECT }, 'failed'],
    ['[A18] pass with a blocker', { holder: MANAGED, verdict: withFinding('blocker') }, 'failed'],
    ['pass with something major', { holder: MANAGED, verdict: withFinding('major') }, 'passed'],
    ['a check failed', { steps: [step('passed'), step('failed')] }, 'failed'],
    ['a check could not judge it', { steps: [step('setup_missing')] }, 'waits_for_holder'],
    [
      'a check could not judge it, and an agent of ours holds it',
      { holder: MANAGED, steps: [step('passed'), step('setup_missing')] },
      'waits_for_holder',
    ],
    [
      'a check could not judge it, and a person said pass',
      { steps: [step('setup_missing')], verdict: PASS },
      'passed',
    ],
    [
      'a check could not judge it, another failed',
      { steps: [step('setup_missing'), step('failed')], verdict: PASS },
      'failed',
    ],
    ['a check failed, and somebody holds it', { holder: PERSON, steps: [step('failed')] }, 'failed'],
    [
      'a check failed, and somebody said pass',
      { holder: PERSON, steps: [step('failed')], verdict: PASS },
      'failed',
    ],
    ['a check took too long', { steps: [step('timeout')] }, 'failed'],
    ['a check was cut off', { holder: PERSON, steps: [step('stopped')] }, 'cut_off'],
  ] as const)('%s', (_, more, answer) => {
    expect(decideReview({ ...facts, ...more }).answer).toBe(answer);
  });

  it('[A18] says that a pass with a blocker is none', () => {
    expect(decideReview({ ...facts, verdict: withFinding('blocker') })).toEqual({
      answer: 'failed',
      reason: 'The verdict was pass, with a blocker: it leaks',
    });
  });
});

it.each([
  [MANAGED, ['critic'], EXTERNAL.kind],
  [MANAGED, ['coder', null], 'managed'],
  [PERSON, ['ann'], 'person'],
  [EXTERNAL, ['coder'], 'external'],
] as const)('an agent is not started to judge its own work: %o, worked on by %j', (holder, workers, kind) => {
  expect(withoutOwnAudit(holder, workers)).toEqual({ ...holder, kind });
});

it.each([
  [step('failed'), '`npm test` ended with 1: tail'],
  [{ ...step('failed'), exit_code: null, output: '' }, '`npm test` ended with a signal'],
  [{ ...step('timeout'), output: '' }, '`npm test` timeout'],
])('the next worker is told how a check failed: %o', (result, told) => {
  expect(describeFailure(result)).toBe(told);
});

describe('who may give the verdict', () => {
  const user = (name: string): Actor => ({ kind: 'user', name, named: true });
  const agent = (name: string): Actor => ({ kind: 'agent', name, named: true });
  it.each([
    [PERSON, user('ann'), false, 'holder'],
    [PERSON, user('bob'), false, 'refused'],
    [PERSON, user('bob'), true, 'forced'],
    [PERSON, agent('ann'), false, 'refused'],
    [PERSON, agent('ann'), true, 'refused'],
    [EXTERNAL, agent('ext1'), false, 'holder'],
    [EXTERNAL, agent('ext2'), true, 'refused'],
    [EXTERNAL, user('ext1'), false, 'refused'],
    [EXTERNAL, user('bob'), true, 'forced'],
    [{ kind: 'external', name: 'coder' }, agent('coder'), false, 'refused'],
    [MANAGED, agent('critic'), false, 'refused'],
    [MANAGED, user('ann'), true, 'forced'],
    [NONE, user('ann'), false, 'holder'],
    [NONE, agent('ext1'), true, 'refused'],
  ] as const)('[H1] %o, asked by %o, force %s: %s', (holder, actor, force, outcome) => {
    expect(decideSpeaker(holder, { actor, workers: ['coder'], force }).outcome).toBe(outcome);
  });
});

describe('what counts as passed', () => {
  const attempt = { id: 'a', branch: 'forge/a', head_commit: 'c1' };
  const review = (more: Partial<Review>): Review =>
    ({
      id: 'r',
      attempt_id: 'a',
      status: 'passed',
      head_commit: 'c1',
      finished_at: 't2',
      cleared_at: null,
      ...more,
    }) as Review; // only what is looked at
  it.each([
    ['the last review, of this commit, that the task names', [review({})], 't2', true],
    ['no review', [], 't2', false],
    ['one of another attempt', [review({ attempt_id: 'b' })], 't2', false],
    ['one that waits', [review({ status: 'waiting', finished_at: null })], 't2', false],
    ['one that runs, after one that passed', [review({}), review({ status: 'running' })], 't2', false],
    ['one of another commit', [review({ head_commit: 'c0' })], 't2', false],
    ['[M9] one that the task names no more', [review({})], undefined, false],
    ['[M9] one that another stands for', [review({ finished_at: 't3' })], 't2', false],
    ['[M9] one that was cleared', [review({ cleared_at: 't4' })], 't2', false],
  ])('%s', (_, reviews, review_passed_at, passed) => {
    const facts = { reviews, gate_changes: [] };
    expect(findPass({ id: 'fg-1', review_passed_at }, attempt, facts).passed).toBe(passed);
  });

  it.each([
    ['nobody', null, false],
    ['an agent', 'agent:critic', false],
    ['a person', 'user:ann', true],
  ])('[A2] one of work that changes its gates, passed by %s', (_, verdict_by, passed) => {
    const facts = { reviews: [review({ verdict_by })], gate_changes: ['.forge/config.json'] };
    expect(findPass({ id: 'fg-1', review_passed_at: 't2' }, attempt, facts).passed).toBe(passed);
  });

  it('[M9] knows the latest clearing', () => {
    expect(findClearing([review({})])).toBeUndefined();
    expect(findClearing([review({ cleared_at: 't3' }), review({ cleared_at: 't1' }), review({})])).toBe('t3');
  });
});

describe('a finding as text', () => {
  it.each([
    [
      'blocker src/a.ts:12: it leaks',
      { severity: 'blocker', file: 'src/a.ts', line: 12, message: 'it leaks' },
    ],
    ['minor src/a.ts: a typo', { severity: 'minor', file: 'src/a.ts', message: 'a typo' }],
    ['minor: a typo', { severity: 'minor', message: 'a typo' }],
    ['too long: by far', { severity: 'major', message: 'too long: by far' }],
    ['blocker', { severity: 'major', message: 'blocker' }],
  ])('%s', (text, finding) => {
    expect(parseFinding(text)).toEqual(finding);
  });
});

describe('[A2] work that changes what judges work', () => {
  const files = ['.forge/config.json'];

  it.each([
    { kind: 'none' },
    { kind: 'managed', name: 'critic' },
    { kind: 'external', name: 'ext' },
  ] as const)('waits for a person where the gate is held by %j', (holder) => {
    const asked = askPeople(holder, files);
    const facts = { holder: asked, has_attempt: true, steps: [], verdict: null };
    expect(decideReview(facts)).toMatchObject({ answer: 'waits_for_holder' });
    const speak = (kind: 'agent' | 'user', name: string): string =>
      decideSpeaker(asked, { actor: { kind, name, named: true }, workers: [], force: false }).outcome;
    expect([speak('agent', 'ext'), speak('agent', 'critic'), speak('user', 'ann')]).toEqual([
      'refused',
      'refused',
      'holder',
    ]);
  });

  it('is for the person who holds the gate, and other work for whoever does', () => {
    const ann = { kind: 'person', name: 'ann' } as const;
    expect(askPeople(ann, files)).toBe(ann);
    expect(askPeople({ kind: 'none' }, [])).toEqual({ kind: 'none' });
  });
});

describe('who holds a gate', () => {
  it.each([
    ['nobody', undefined, NONE],
    ['a person', { user: 'ann' }, PERSON],
    ['an agent of ours', { agent: 'critic' }, MANAGED],
    ['an agent that calls us', { agent: 'ext1' }, EXTERNAL],
  ] as const)('%s', (_, reviewer, holder) => {
    const task = { ...(reviewer && { roles: { reviewer } }) };
    const isManaged = (agent: string): boolean => agent === 'critic';
    expect(findGateHolder(DEFAULT_RESOLVED, task, { gate: 'review', isManaged })).toEqual(holder);
    expect(findGateHolder(DEFAULT_RESOLVED, task, { gate: 'merging', isManaged })).toEqual(NONE);
  });

  it.each([
    [MANAGED, 'why', { kind: 'unable', code: 'auditor', why: 'why' }],
    [MANAGED, undefined, MANAGED],
    [EXTERNAL, 'why', EXTERNAL],
    [PERSON, undefined, PERSON],
  ] as const)('an auditor that gives no verdict keeps nothing waiting: %j, %s', (holder, why, left) => {
    expect(withoutSpentAudits(holder, why)).toEqual(left);
  });

  it.each([
    [NONE, 'agent', 'a person says whether it passes, not x'],
    [{ kind: 'people', files: ['a'] }, 'agent', 'a person says whether it passes, not x'],
    [PERSON, 'user', 'ann says whether it passes, not x'],
    [EXTERNAL, 'user', 'ext1 says whether it passes, not x'],
  ] as const)('another is told whose word counts: %j', (holder, kind, why) => {
    const actor = { kind, name: 'x', named: true };
    expect(decideSpeaker(holder as GateHolder, { actor, workers: [], force: false })).toEqual({
      outcome: 'refused',
      why,
    });
  });
});

describe('what a state does with a task that comes to it', () => {
  it.each([
    ['review', 'run_ci_steps', true],
    ['review', 'run_merge', false],
    ['merging', 'run_merge', true],
    ['todo', 'run_merge', false],
    ['unknown', 'run_merge', false],
  ] as const)('%s, %s: %s', (state, action, does) => {
    expect(doesOnEnter(DEFAULT_RESOLVED, state, action)).toBe(does);
  });
});
