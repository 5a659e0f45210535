import { describe, expect, it } from 'vitest';
import { toIso } from '#kernel/clock.ts';
import { keptAttempt } from '../../tests/support/kept-work.ts';
import { decideAttemptChange, decideAttemptStart, refusePort } from './decide-attempt.ts';

const NOW = Date.UTC(2026, 1, 10, 9);

describe('decideAttemptStart', () => {
  const { id, name, path, target, base_commit, agent } = keptAttempt();
  const wish = { id, name, path, target, base_commit, agent, port: 4100 };
  const task = { id: 'fg-a1b2', status: 'open', state: 'todo' } as const;
  const closed = { ...task, status: 'closed', state: 'done' } as const;
  const free = { task, named: undefined, port_of: undefined, newest: 0 };
  it.each([
    ['the first of an open task', free, {}, { outcome: 'save', attempt: { number: 1 } }],
    ['a task at work', { ...free, task: { ...task, status: 'in_progress' } }, {}, { outcome: 'save' }],
    ['one behind others', { ...free, newest: 7 }, {}, { attempt: { number: 8 } }],
    ['how it is picked', free, { pick: 'person' }, { attempt: { pick: 'person' } }],
    ['a closed task', { ...free, task: closed, named: 'a-0' }, {}, { outcome: 'task_closed', task: closed }],
    [
      'a name and a port that are taken',
      { ...free, named: 'a-0', port_of: 'a-2' },
      {},
      { outcome: 'name_taken', id, name, attempt: 'a-0' },
    ],
    [
      'a port that is taken',
      { ...free, port_of: 'a-2' },
      {},
      { outcome: 'port_taken', port: 4100, attempt: 'a-2' },
    ],
    ['no port', { ...free, port_of: 'a-2' }, { port: null }, { outcome: 'save', attempt: { port: null } }],
  ] as const)('%s', (_, facts, more, expected) => {
    expect(decideAttemptStart(facts, { ...wish, ...more }, NOW)).toMatchObject(expected);
  });

  it('begins with nothing but what was wished, and tells of it', () => {
    const attempt = keptAttempt({ created_at: toIso(NOW) });
    expect(decideAttemptStart(free, wish, NOW)).toEqual({
      outcome: 'save',
      attempt,
      events: [{ type: 'attempt.started', task_id: 'fg-a1b2', data: { attempt } }],
    });
  });
});

describe('refusePort', () => {
  it.each([
    [4100, 'a-2', 'port_taken'],
    [4100, undefined, undefined],
    [null, 'a-2', undefined],
  ] as const)('%s of %s: %s', (port, owner, outcome) => {
    expect(refusePort({ id: 'a-1', port }, owner)?.outcome).toBe(outcome);
  });
});

describe('decideAttemptChange', () => {
  it.each([
    ['nothing', {}, {}, { outcome: 'unchanged' }],
    ['what it is already', {}, { agent: 'bot', port: undefined }, { outcome: 'unchanged' }],
    ['its head', {}, { head_commit: 'beef' }, { outcome: 'save', events: [], takes_port: false }],
    ['another branch', {}, { strayed: 'main' }, { events: ['attempt.strayed'] }],
    ['back again', { strayed: 'main' }, { strayed: null }, { events: ['attempt.returned'] }],
    [
      'merged',
      {},
      { state: 'merged', merge_commit: 'beef' },
      { events: ['attempt.finished'], attempt: { finished_at: toIso(NOW) } },
    ],
    ['merged into nothing', {}, { state: 'merged' }, { outcome: 'nothing_merged' }],
    [
      'archived while it strayed',
      { strayed: 'main' },
      { state: 'archived' },
      { events: ['attempt.finished'], attempt: { strayed: null } },
    ],
    ['removed', {}, { removed_at: toIso(NOW) }, { events: ['attempt.removed'], takes_port: false }],
    [
      'archived and removed',
      {},
      { state: 'archived', removed_at: toIso(NOW) },
      { events: ['attempt.finished', 'attempt.removed'] },
    ],
    ['another port', {}, { port: 4200 }, { takes_port: true }],
    [
      'there again',
      { removed_at: toIso(1), state: 'archived', finished_at: toIso(1) },
      { removed_at: null },
      { takes_port: true, events: [] },
    ],
    [
      'active again',
      { state: 'archived', finished_at: toIso(1) },
      { state: 'active' },
      { attempt: { finished_at: null }, events: [] },
    ],
  ] as const)('%s', (_, before, wished, expected) => {
    const decision = decideAttemptChange(keptAttempt(before), wished, NOW);
    const types = decision.outcome === 'save' ? decision.events.map(({ type }) => type) : undefined;
    expect({ ...decision, events: types }).toMatchObject(expected);
    if (decision.outcome !== 'save') return;
    const { attempt, events } = decision;
    for (const event of events) expect(event).toMatchObject({ task_id: 'fg-a1b2', data: { attempt } });
  });
});
