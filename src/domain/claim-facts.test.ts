import { describe, expect, it, test } from 'vitest';
import type { Json } from '#kernel/json.ts';
import { toBlockerFacts, toClaimFacts } from './claim-facts.ts';
import { NO_AGENTS } from './claimer.ts';
import { claimRecord, closeRecord, editRecord, newRecord } from './task-changes.ts';
import type { TaskRecord } from './task-record.ts';
import { DEFAULT_RESOLVED } from './workflow.ts';

const task = { id: 'fg-1', created_by: 'ann', state: 'todo', assignee: null, fields: {} };
const open = newRecord({ ...task, labels: [], dependencies: [], metadata: new Map() }, 1_000);
const bobs = claimRecord(open, 'bob', 2_000, 'in_progress');
const person = { kind: 'user', name: 'ann', named: true } as const;
const asked = { way: 'claim', assignee: 'ann', agents: NO_AGENTS } as const;

describe('toClaimFacts', () => {
  it.each<[string, TaskRecord, string, boolean]>([
    ['nobody’s task', open, 'ann', false],
    ['the claimer’s own', bobs, 'bob', false],
    ['another’s', bobs, 'ann', true],
    ['a closed one of another', closeRecord(bobs, 'done', 3_000, 'done'), 'ann', false],
  ])('asks for the lease of %s only where it is in the way', (_, record, assignee, isAsked) => {
    let looked = false;
    const is_lease_over = (): boolean => (looked = true);
    const reads = { asker: person, pauses_agents: false, blockers: () => [], is_lease_over };
    const facts = toClaimFacts(record, { ...asked, assignee }, reads);
    expect([looked, facts.lease_over]).toEqual([isAsked, isAsked]);
  });

  it('tells whom the roles were given to, who else is started, and what is put away', () => {
    const fields = new Map<string, Json>([
      ['role:reviewer', { agent: 'critic' }],
      ['archived_at', '2026-01-01T00:00:00.000Z'],
    ]);
    const record = editRecord(open, { fields }, 2_000);
    const blockers = [{ in_gate: true, submitted_by: 'ann' }];
    const reads = {
      asker: person,
      pauses_agents: true,
      blockers: () => blockers,
      is_lease_over: () => false,
    };
    const facts = toClaimFacts(record, { ...asked, companions: ['bot'] }, reads);
    expect(facts).toMatchObject({
      claimer: { name: 'ann', kind: 'person' },
      companions: [{ name: 'bot' }],
      pauses_agents: true,
      archived: true,
      blockers,
    });
    expect([facts.holderOf('reviewer'), facts.holderOf('coder')]).toEqual(['critic', undefined]);
  });
});

test.each([
  ['another project’s', undefined, { in_gate: false, submitted_by: null }],
  [
    'one in a gate',
    { state: 'review', assignee: 'bob', submitted_by: 'ann' },
    { in_gate: true, submitted_by: 'ann' },
  ],
  [
    'one in a gate that nobody handed in',
    { state: 'review', assignee: 'bob', submitted_by: null },
    { in_gate: true, submitted_by: 'bob' },
  ],
  ['one at work', { state: 'in_progress', assignee: 'bob', submitted_by: null }, { in_gate: false }],
])('of a blocker, %s', (_, blocker, facts) => {
  expect(toBlockerFacts(blocker, DEFAULT_RESOLVED)).toMatchObject(facts);
});
