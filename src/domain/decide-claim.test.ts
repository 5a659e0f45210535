import { describe, expect, it } from 'vitest';
import type { Status } from '#contract/task.ts';
import { plainClaim } from '../../tests/support/plain-claim.ts';
import type { Actor } from './actor.ts';
import { NO_AGENTS, toClaimer, type Claimer } from './claimer.ts';
import { decideClaim, type ClaimDecision, type ClaimFacts, type ClaimWay } from './decide-claim.ts';
import { DEFAULT_RESOLVED } from './workflow.ts';

const STATE = { open: 'todo', in_progress: 'in_progress', closed: 'done' } as const;
const PERSON: Claimer = { name: 'me', kind: 'person', paused: false };
const AGENT: Claimer = { name: 'me', kind: 'agent', paused: false };

function decide(
  facts: Partial<ClaimFacts> & { status?: Status; state?: string; owner?: string | null },
): ClaimDecision {
  const { status = 'open', state = STATE[status], owner = null, ...more } = facts;
  const life = { status, state, assignee: owner };
  return decideClaim(plainClaim(life, { assignee: 'me', ...more }), DEFAULT_RESOLVED);
}

describe('decideClaim, the whole table', () => {
  // status, owner, parked, blocked, force → outcome; * is any.
  const TABLE = `
    closed       *       *        *        *      closed
    in_progress  me      *        *        *      mine
    in_progress  other   *        *        -      taken
    in_progress  other   *        *        force  claim
    in_progress  nobody  parked   *        -      parked
    in_progress  nobody  -        blocked  -      blocked
    in_progress  nobody  -        -        -      claim
    in_progress  nobody  *        *        force  claim
    open         other   *        *        -      taken
    open         nobody  parked   *        -      parked
    open         me      parked   *        -      parked
    open         nobody  -        blocked  -      blocked
    open         me      -        blocked  -      blocked
    open         nobody  -        -        -      claim
    open         me      -        -        -      claim
    open         *       *        *        force  claim
  `;
  const rows = TABLE.trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/));
  const combinations = (['open', 'in_progress', 'closed'] as const).flatMap((status) =>
    ['nobody', 'me', 'other'].flatMap((owner) =>
      ['parked', '-'].flatMap((parked) =>
        ['blocked', '-'].flatMap((blocked) =>
          ['force', '-'].map((force) => [status, owner, parked, blocked, force] as const),
        ),
      ),
    ),
  );

  it('has 72 rows', () => {
    expect(combinations).toHaveLength(72);
  });

  it.each(combinations)('%s, owner %s, %s, %s, %s', (status, owner, parked, blocked, force) => {
    const given = [status, owner, parked, blocked, force];
    const matching = rows.filter((row) => given.every((value, i) => row[i] === '*' || row[i] === value));
    expect(matching).toHaveLength(1);
    const decision = decide({
      status,
      state: parked === 'parked' ? 'backlog' : STATE[status],
      owner: owner === 'nobody' ? null : owner,
      way: force === 'force' ? 'force' : 'claim',
      blockers: blocked === 'blocked' ? [{ in_gate: false, submitted_by: 'me' }] : [],
    });
    expect(decision.outcome).toBe(matching[0]?.[5]);
  });
});

describe('decideClaim', () => {
  const WAYS: readonly ClaimWay[] = ['claim', 'force', 'hand_over', 'move'];
  const STATUSES = ['open', 'in_progress', 'closed'] as const;

  it.each(WAYS)('[S359] [S360] by %s: a paused agent and a paused project come before everything', (way) => {
    for (const status of STATUSES)
      for (const owner of [null, 'me', 'other']) {
        const of = { way, status, owner };
        expect(decide({ ...of, claimer: { ...AGENT, paused: true } })).toEqual({
          outcome: 'agent_paused',
          agent: 'me',
        });
        expect(decide({ ...of, claimer: AGENT, pauses_agents: true })).toEqual({
          outcome: 'project_paused',
        });
        expect(decide({ ...of, claimer: PERSON, pauses_agents: true })).toEqual(
          decide({ ...of, claimer: PERSON }),
        );
      }
  });

  it('who asks does not count for a pause, and those who are started with it do', () => {
    for (const kind of ['user', 'agent', 'system'] as const) {
      const asker = { kind, name: 'asker' };
      expect(decide({ asker, claimer: AGENT, pauses_agents: true }).outcome).toBe('project_paused');
      expect(decide({ asker, claimer: PERSON, pauses_agents: true }).outcome).toBe('claim');
    }
    expect(decide({ companions: [AGENT], pauses_agents: true }).outcome).toBe('project_paused');
    expect(decide({ companions: [{ ...AGENT, name: 'two', paused: true }] })).toEqual({
      outcome: 'agent_paused',
      agent: 'two',
    });
  });

  it('what the workflow leads on by itself is written down also while it is paused', () => {
    const led = {
      way: 'move',
      asker: { kind: 'system', name: '' },
      claimer: AGENT,
      pauses_agents: true,
    } as const;
    expect(decide(led).outcome).toBe('claim');
  });

  it('[S194] a role of another keeps it for them, unless it is forced', () => {
    const holderOf = (role: string) => (role === 'coder' ? 'ann' : undefined);
    const kept = { outcome: 'role', role: 'coder', holder: 'ann' };
    expect(decide({ holderOf })).toEqual(kept);
    expect(decide({ holderOf, way: 'hand_over', status: 'in_progress', owner: 'ann' })).toEqual(kept);
    expect(decide({ holderOf, way: 'force' }).outcome).toBe('claim');
    expect(decide({ holderOf: () => 'me' })).toEqual({ outcome: 'claim', state: 'planning' });
  });

  it('an archived task is nobody’s to claim, unless it is forced', () => {
    expect(decide({ archived: true }).outcome).toBe('archived');
    expect(decide({ archived: true, way: 'move' }).outcome).toBe('archived');
    expect(decide({ archived: true, way: 'hand_over', status: 'in_progress', owner: 'ann' }).outcome).toBe(
      'archived',
    );
    expect(decide({ archived: true, way: 'force' }).outcome).toBe('claim');
  });

  it('[O10c] an archived task is not forced by an agent', () => {
    const asker = { kind: 'agent', name: 'me' } as const;
    for (const state of ['todo', 'backlog'])
      expect(decide({ archived: true, way: 'force', asker, claimer: AGENT, state }).outcome).toBe(
        'kept_archived',
      );
  });

  it('[O10d] an agent that moves a task into work gets it itself, or nobody does', () => {
    const asker = { kind: 'agent', name: 'sh1' } as const;
    const moved = { way: 'move', asker, claimer: { ...AGENT, name: 'sh2' } } as const;
    const holderOf = (role: string) => (role === 'coder' ? 'sh2' : undefined);
    expect(decide({ ...moved, holderOf })).toEqual({ outcome: 'role', role: 'coder', holder: 'sh2' });
    expect(decide({ ...moved, owner: 'sh2' })).toEqual({ outcome: 'taken', owner: 'sh2' });
    expect(decide({ ...moved, owner: 'sh1', holderOf }).outcome).toBe('role');
    // The role is that of the state it leads to, wherever it comes from.
    const blocked = { ...moved, status: 'in_progress', state: 'blocked', owner: 'x', holderOf } as const;
    expect(decide({ ...blocked, to: 'in_progress' }).outcome).toBe('role');
    // It begins itself; it hands on what it has, as a planner does; a gate sends work back.
    expect(decide({ ...moved, claimer: { ...AGENT, name: 'sh1' } }).outcome).toBe('claim');
    expect(decide({ ...moved, status: 'in_progress', state: 'planning', owner: 'sh1' }).outcome).toBe(
      'claim',
    );
    expect(decide({ ...moved, status: 'in_progress', state: 'review', owner: 'x' }).outcome).toBe('claim');
    for (const kind of ['user', 'system'] as const)
      expect(decide({ ...moved, holderOf, asker: { kind, name: 'ann' } }).outcome).toBe('claim');
  });

  it('[S363] [S364] who submitted every open blocker to its gate may go on', () => {
    const mine = { in_gate: true, submitted_by: 'me' };
    const theirs = { in_gate: true, submitted_by: 'ann' };
    expect(decide({ blockers: [mine, mine] }).outcome).toBe('claim');
    expect(decide({ blockers: [mine, theirs] }).outcome).toBe('blocked');
    expect(decide({ blockers: [{ ...mine, in_gate: false }] }).outcome).toBe('blocked');
    expect(decide({ blockers: [{ in_gate: true, submitted_by: null }] }).outcome).toBe('blocked');
  });

  it('a lease that is over makes the task free, by every rule of a free one', () => {
    const left = { status: 'in_progress', owner: 'gone', lease_over: true } as const;
    expect(decide(left)).toEqual({ outcome: 'claim', state: 'in_progress' });
    expect(decide({ ...left, archived: true }).outcome).toBe('archived');
    expect(decide({ ...left, blockers: [{ in_gate: false, submitted_by: null }] }).outcome).toBe('blocked');
  });

  it('a hand-over passes over the owner and nothing else', () => {
    const given = { way: 'hand_over', status: 'in_progress', owner: 'ann' } as const;
    expect(decide(given)).toEqual({ outcome: 'claim', state: 'in_progress' });
    expect(decide({ ...given, owner: 'me' })).toEqual({ outcome: 'mine' });
    expect(decide({ ...given, blockers: [{ in_gate: false, submitted_by: null }] }).outcome).toBe('blocked');
    // An agent gives away its own alone.
    const asked = (name: string) => decide({ ...given, asker: { kind: 'agent', name } });
    expect(asked('ann')).toEqual({ outcome: 'claim', state: 'in_progress' });
    expect(asked('me')).toEqual({ outcome: 'taken', owner: 'ann' });
    // In a gate nobody begins to work, and the gate's role is not the owner's.
    const waiting = { ...given, state: 'review', holderOf: () => 'critic' };
    expect(decide(waiting)).toEqual({ outcome: 'claim', state: 'review' });
  });

  it('[S398] only a person takes a parked task out by force', () => {
    const parked = { state: 'backlog', way: 'force' } as const;
    expect(decide({ ...parked, asker: { kind: 'user', name: 'ann' }, claimer: AGENT }).outcome).toBe('claim');
    expect(decide({ ...parked, asker: { kind: 'agent', name: 'me' }, claimer: AGENT }).outcome).toBe(
      'kept_parked',
    );
    expect(decide({ ...parked, asker: { kind: 'agent', name: 'me' } }).outcome).toBe('kept_parked');
  });
});

describe('toClaimer', () => {
  const agents = new Map([
    ['coder1', { paused: false }],
    ['idle', { paused: true }],
  ]);
  const actor = (kind: Actor['kind'], named = true): Actor => ({ kind, name: 'asker', named });

  it.each<[string, Actor, Claimer['kind'], boolean]>([
    ['coder1', actor('user'), 'agent', false],
    ['coder1', actor('agent'), 'agent', false],
    ['coder1', actor('system'), 'agent', false],
    ['idle', actor('user'), 'agent', true],
    ['ann', actor('user'), 'person', false],
    ['ann', actor('user', false), 'person', false],
    ['ann', actor('agent'), 'agent', false],
    // The agent loop's claim, by somebody who did not say who they are.
    ['ann', actor('agent', false), 'person', false],
  ])('%s for %j: %s', (name, asker, kind, paused) => {
    expect(toClaimer(name, agents, asker)).toEqual({ name, kind, paused });
  });

  it('knows nobody where nobody is registered', () => {
    expect(toClaimer('coder1', NO_AGENTS, actor('user')).kind).toBe('person');
  });
});
