import { describe, expect, it } from 'vitest';
import { renameWorkflow } from '../../tests/support/temp-engine.ts';
import type { Actor } from './actor.ts';
import { decideAgentMove, needsAttempts, type AgentMove } from './decide-agent-move.ts';
import { DEFAULT_WORKFLOW } from './default-workflow.ts';
import { DEFAULT_RESOLVED, resolveWorkflow } from './workflow.ts';

const CODER = { kind: 'agent', name: 'coder' } as const;
const CRITIC = { kind: 'agent', name: 'critic' } as const;
const ANN = { kind: 'user', name: 'ann' } as const;
const FORGE = { kind: 'system', name: '' } as const;

type Has = 'nothing' | 'reviewer' | 'checks' | 'attempt' | 'given up';

function toTask(state: string, has: readonly Has[], passed: boolean): AgentMove['task'] {
  return {
    id: 'fg-1',
    status: state === 'todo' ? 'open' : 'in_progress',
    state,
    assignee: 'coder',
    ...(has.includes('reviewer') && { roles: { reviewer: { user: 'ann' } } }),
    ...(has.includes('checks') && { review_config: { ci_steps: ['npm test'] } }),
    ...(passed && { review_passed_at: '2026-01-01T00:00:00.000Z' }),
  };
}

function decide(
  actor: Pick<Actor, 'kind' | 'name'>,
  move: { from: string; to: string; has?: readonly Has[]; passed?: boolean },
): string {
  const { from, to, has = [], passed = false } = move;
  const task = toTask(from, has, passed);
  const unfinished = has.includes('attempt');
  const given_up = has.includes('given up');
  return decideAgentMove(DEFAULT_RESOLVED, { actor, task, unfinished, given_up, to }).outcome;
}

/** Gates in which Forge runs nothing. */
const MANUAL = resolveWorkflow({
  roles: ['qa'],
  states: [
    { name: 'todo', kind: 'initial', next: ['doing'] },
    { name: 'doing', kind: 'active', next: ['qa'] },
    { name: 'qa', kind: 'gate', role: 'qa', next: ['release', 'doing'] },
    { name: 'release', kind: 'gate', next: ['done', 'doing'] },
    { name: 'done', kind: 'terminal' },
    { name: 'cancelled', kind: 'terminal' },
  ],
});

describe('[H1] what an agent may not do with a task', () => {
  it.each([
    // From, to, what the task has, whether its review has passed, and whether an agent may.
    ['todo', 'done', [], false, true],
    ['in_progress', 'done', [], false, true],
    ['review', 'done', [], false, true],
    ['blocked', 'done', [], false, true],
    ['todo', 'done', ['reviewer'], false, false],
    ['in_progress', 'done', ['reviewer'], false, false],
    ['in_progress', 'done', ['checks'], false, false],
    ['in_progress', 'done', ['attempt'], false, false],
    ['blocked', 'done', ['reviewer'], false, false],
    // [O9] Cancelling and reopening does not wash off what was not merged.
    ['todo', 'done', ['given up'], false, false],
    ['in_progress', 'done', ['given up'], false, false],
    ['review', 'done', ['given up'], true, false],
    ['in_progress', 'review', ['given up'], false, true],
    ['in_progress', 'cancelled', ['given up'], false, true],
    ['merge_failed', 'done', ['attempt'], true, false],
    ['review', 'done', ['reviewer'], false, false],
    ['review', 'done', ['checks'], false, false],
    ['review', 'done', ['attempt'], false, false],
    ['review', 'done', ['reviewer', 'checks'], true, true],
    ['review', 'done', ['reviewer', 'attempt'], true, false],
    ['merging', 'done', ['attempt'], true, false],
    // An old pass is none of the work that is being done now.
    ['in_progress', 'done', ['reviewer'], true, false],
    ['review', 'merging', [], false, false],
    ['review', 'merging', ['attempt'], true, false],
    ['merge_failed', 'merging', ['attempt'], true, false],
    ['in_progress', 'review', ['reviewer', 'checks', 'attempt'], false, true],
    ['review', 'in_progress', ['reviewer', 'checks', 'attempt'], false, true],
    ['in_progress', 'todo', ['reviewer', 'attempt'], false, true],
    ['in_progress', 'blocked', ['reviewer', 'attempt'], false, true],
    ['in_progress', 'cancelled', ['reviewer', 'checks'], false, true],
  ] as const)('from %s to %s with %o, passed %s: %s', (from, to, has, passed, may) => {
    const move = { from, to, has, passed };
    expect(decide(CODER, move)).toBe(may ? 'allowed' : 'refused');
    for (const free of [ANN, FORGE]) expect(decide(free, move)).toBe('allowed');
  });

  it('whatever states and roles are called', () => {
    const renamed = resolveWorkflow(renameWorkflow(DEFAULT_WORKFLOW, (name) => `x-${name}`));
    const task = { ...toTask('x-review', [], true), roles: { 'x-reviewer': { user: 'ann' } } };
    const facts = { actor: CODER, task, unfinished: true, given_up: false };
    expect(decideAgentMove(renamed, { ...facts, to: 'x-merging' }).outcome).toBe('refused');
    expect(decideAgentMove(renamed, { ...facts, to: 'x-done' }).outcome).toBe('refused');
    expect(decideAgentMove(renamed, { ...facts, to: 'x-in_progress' }).outcome).toBe('allowed');
  });

  it('in a workflow without gates nothing is in the way', () => {
    const plain = resolveWorkflow({
      states: [
        { name: 'todo', kind: 'initial', next: ['doing'] },
        { name: 'doing', kind: 'active', next: ['done'] },
        { name: 'done', kind: 'terminal' },
        { name: 'cancelled', kind: 'terminal' },
      ],
    });
    const task = { ...toTask('doing', ['checks'], false) };
    expect(
      decideAgentMove(plain, { actor: CODER, task, unfinished: true, given_up: false, to: 'done' }).outcome,
    ).toBe('allowed');
  });

  it('a gate in which Forge runs nothing is passed by its holder, and not by whoever worked on it', () => {
    const task = { ...toTask('qa', [], false), roles: { qa: { agent: 'critic' } } };
    const to = (actor: Pick<Actor, 'kind' | 'name'>, state: string, one: AgentMove['task'] = task): string =>
      decideAgentMove(MANUAL, { actor, task: one, unfinished: false, given_up: false, to: state }).outcome;
    expect([to(CRITIC, 'release'), to(CRITIC, 'done')]).toEqual(['allowed', 'allowed']);
    expect([to(CODER, 'release'), to(CODER, 'done')]).toEqual(['refused', 'refused']);
    expect(to(CRITIC, 'release', { ...task, assignee: 'critic' })).toBe('refused');
    expect(to(CODER, 'release', { ...task, roles: {} })).toBe('allowed');
  });

  it('whoever holds a gate passes it there, not while the task is still being worked on', () => {
    const task = { ...toTask('doing', [], false), roles: { qa: { agent: 'critic' } } };
    const move = { actor: CRITIC, task, unfinished: false, given_up: false, to: 'done' };
    expect(decideAgentMove(MANUAL, move)).toMatchObject({ outcome: 'refused', gate: 'qa' });
  });

  it('a gate that lies behind the task has nothing to say any more', () => {
    const task = { ...toTask('release', [], false), roles: { qa: { agent: 'critic' } } };
    const move = { actor: CODER, task, unfinished: false, given_up: false, to: 'done' };
    expect(decideAgentMove(MANUAL, move).outcome).toBe('allowed');
  });
});

describe('whether it counts how the attempts of the task stand', () => {
  const STATES = [...DEFAULT_RESOLVED.states.keys()];
  const all = (['agent', 'user', 'system'] as const).flatMap((kind) =>
    STATES.flatMap((from) => STATES.map((to) => ({ kind, from, to }))),
  );

  it.each(all)('by $kind, from $from to $to', ({ kind, from, to }) => {
    const status =
      from === 'todo' || from === 'backlog'
        ? 'open'
        : from === 'done' || from === 'cancelled'
          ? 'closed'
          : 'in_progress';
    const isGate = (state: string): boolean => state === 'review' || state === 'merging';
    const counts = kind === 'agent' && (to === 'done' || (isGate(from) && isGate(to)));
    const asked = { actor: { kind, name: 'x' }, task: { status, state: from }, to } as const;
    expect(needsAttempts(DEFAULT_RESOLVED, asked)).toBe(counts);
  });
});
