import { describe, expect, it } from 'vitest';
import { plainClaim } from '../../tests/support/plain-claim.ts';
import type { Json } from '#kernel/json.ts';
import { deciding, NOW, seenTask } from '../../tests/support/seen-task.ts';
import type { ClaimFacts } from './decide-claim.ts';
import { decideMove, isMoveEdge, listMoveNeeds, type MoveFacts, type TaskMove } from './decide-move.ts';
import { editRecord } from './task-changes.ts';
import type { SeenTask } from './task-plan.ts';
import { DEFAULT_RESOLVED, endsAsDone, findEdge, kindOf, resolveWorkflow } from './workflow.ts';

const ATTEMPT = { id: 'a-1', name: 'a1b2-one' };
const STATES = [...DEFAULT_RESOLVED.states.keys()];
const CLOSED: ReadonlySet<string> = new Set(['done', 'cancelled']);

/** The facts as a store reads them: those that are needed, and no others. */
function decide(
  task: SeenTask,
  move: Partial<TaskMove> & { to: string },
  who: 'user' | 'agent' | 'system' = 'user',
  world: Partial<Omit<MoveFacts, 'claim'>> & { readonly claim?: Partial<ClaimFacts> } = {},
) {
  const whole = { reason: null, ...move };
  const needs = listMoveNeeds(task, whole, deciding(who));
  const claim =
    needs.claim_of === undefined
      ? undefined
      : plainClaim(task.record.life, {
          assignee: needs.claim_of,
          way: 'move',
          to: move.to,
          asker: { kind: who, name: 'me' },
        });
  const facts = {
    unfinished: needs.unfinished ? world.unfinished : undefined,
    claim: claim === undefined ? undefined : { ...claim, ...world.claim },
  };
  return decideMove(task, whole, { facts, deciding: deciding(who) });
}

describe('decideMove over every pair of states', () => {
  const pairs = STATES.flatMap((from) => STATES.map((to) => ({ from, to })));

  it.each(pairs)('$from to $to', ({ from, to }) => {
    const owner = kindOf(DEFAULT_RESOLVED, from) === 'active' ? 'me' : null;
    const decision = decide(seenTask({ state: from, owner }), { to });
    const edge = findEdge(DEFAULT_RESOLVED, from, to);
    const saved = { outcome: 'save', from, after: { life: { state: to } } };
    const refused = CLOSED.has(from)
      ? { outcome: 'closed' }
      : { outcome: 'no_edge', from, to, is_known: true, is_closing: to === 'done' };
    expect(decision).toMatchObject(isMoveEdge(edge) ? saved : refused);
  });

  it.each(STATES)('to no other state than one with an edge from %s are the next ones named', (from) => {
    const decision = decide(seenTask({ state: from }), { to: 'nowhere' });
    if (decision.outcome !== 'no_edge') throw new Error(decision.outcome);
    expect(decision.is_known).toBe(false);
    for (const to of decision.next) expect(isMoveEdge(findEdge(DEFAULT_RESOLVED, from, to))).toBe(true);
  });

  it.each(pairs.filter(({ to }) => endsAsDone(DEFAULT_RESOLVED, to)))(
    '$from to $to is refused while an attempt is not merged',
    ({ from, to }) => {
      const edge = findEdge(DEFAULT_RESOLVED, from, to);
      const decision = decide(seenTask({ state: from }), { to }, 'user', { unfinished: ATTEMPT });
      const refused = CLOSED.has(from) ? 'closed' : 'no_edge';
      expect(decision.outcome).toBe(isMoveEdge(edge) ? 'not_landed' : refused);
    },
  );

  it.each(pairs.filter(({ from }) => from === 'backlog'))('an agent from $from to $to', ({ from, to }) => {
    const edge = findEdge(DEFAULT_RESOLVED, from, to);
    const isOut = !['backlog', 'done', 'cancelled'].includes(to);
    const { outcome } = decide(seenTask({ state: from }), { to }, 'agent');
    expect(outcome).toBe(isMoveEdge(edge) ? (isOut ? 'kept_parked_in' : 'save') : 'no_edge');
  });
});

describe('decideMove out of a terminal state', () => {
  const WHO = ['user', 'agent', 'system'] as const;
  const all = [...CLOSED].flatMap((from) => STATES.flatMap((to) => WHO.map((who) => ({ from, to, who }))));

  it.each(all)('$who from $from to $to: only by reopening', ({ from, to, who }) => {
    expect(decide(seenTask({ state: from, owner: 'me' }), { to }, who)).toEqual({ outcome: 'closed' });
  });

  it.each(WHO)('%s: also where a workflow would draw the edge, which no valid one does', (who) => {
    const { definition } = DEFAULT_RESOLVED;
    const states = definition.states.map((state) =>
      state.name === 'done' ? { ...state, next: ['todo'] } : state,
    );
    const workflow = resolveWorkflow({ ...definition, states });
    const facts = { unfinished: undefined, claim: undefined };
    const by = { facts, deciding: { ...deciding(who), workflow } };
    expect(decideMove(seenTask({ state: 'done' }), { to: 'todo', reason: null }, by)).toEqual({
      outcome: 'closed',
    });
  });
});

describe('decideMove', () => {
  it.each([
    ['another version', { version: 6 }, 'other_version'],
    ['another claim', { fence: 2 }, 'other_claim'],
    ['what was seen', { version: 7, fence: 3 }, 'save'],
  ] as const)('asks for %s first', (_, seen, outcome) => {
    expect(decide(seenTask(), { to: 'in_progress', ...seen }).outcome).toBe(outcome);
    const nowhere = decide(seenTask(), { to: 'nowhere', ...seen }).outcome;
    expect(nowhere).toBe(outcome === 'save' ? 'no_edge' : outcome);
  });

  it('is a claim of the one who begins, under the rules of claims', () => {
    const task = seenTask();
    expect(listMoveNeeds(task, { to: 'in_progress', reason: null }, deciding()).claim_of).toBe('me');
    const begun = decide(task, { to: 'in_progress' });
    expect(begun.outcome === 'save' && begun.after.life).toMatchObject({
      assignee: 'me',
      status: 'in_progress',
    });
    const archived = decide(task, { to: 'in_progress' }, 'user', { claim: { archived: true } });
    expect(archived.outcome).toBe('archived');
  });

  it('of who goes on with the own work reads no facts of a claim', () => {
    const task = seenTask({ state: 'in_progress', owner: 'me' });
    expect(listMoveNeeds(task, { to: 'review', reason: null }, deciding())).toEqual({
      unfinished: false,
      claim_of: undefined,
    });
  });

  it.each(['nowhere', 'done'])('of one that is refused before, to %s, reads no facts', (to) => {
    const task = seenTask({ state: 'in_progress', owner: 'me' });
    expect(listMoveNeeds(task, { to, reason: null }, deciding())).toEqual({
      unfinished: false,
      claim_of: undefined,
    });
  });

  it('of who begins is a fault of the program without the facts of a claim', () => {
    const facts = { unfinished: undefined, claim: undefined };
    const move = { to: 'in_progress', reason: null };
    expect(() => decideMove(seenTask(), move, { facts, deciding: deciding() })).toThrow(
      'the facts of a claim were read for who begins by a move',
    );
  });

  it('tells the reason, and whether a gate said no', () => {
    const task = seenTask({ state: 'review', owner: 'me' });
    const decision = decide(task, { to: 'in_progress', reason: 'red', rejection: true });
    expect(decision.outcome === 'save' && decision.happening).toMatchObject({
      reason: 'red',
      rejection: true,
    });
  });

  it.each([
    ['todo', 'cancelled', null, 'cancelled'],
    ['todo', 'cancelled', 'not wanted', 'not wanted'],
    ['merging', 'done', null, 'done'],
  ])('from %s to %s for the reason %s closes it for "%s"', (state, to, reason, close_reason) => {
    const decision = decide(seenTask({ state }), { to, reason });
    expect(decision.outcome === 'save' && decision.after.life).toMatchObject({
      status: 'closed',
      close_reason,
    });
  });
});

describe('who has the task after a move, and whether that is a claim', () => {
  const coder = { 'role:coder': { agent: 'bob' } };
  it.each([
    ['a free task is begun by the one who moves it', 'todo', null, {}, 'in_progress', 'me', true],
    ['a reserved one by the one it is for', 'todo', 'ann', {}, 'in_progress', 'ann', true],
    ['one with a coder by the coder', 'todo', null, coder, 'in_progress', 'bob', true],
    ['work stays with its owner in a gate', 'in_progress', 'ann', {}, 'review', 'ann', false],
    ['and where the gate sends it back', 'review', 'ann', {}, 'in_progress', 'ann', false],
    ['unless another has the role of it', 'review', 'ann', coder, 'in_progress', 'bob', true],
    ['work of nobody is begun by the one who moves it', 'blocked', null, {}, 'in_progress', 'me', true],
    ['nobody has what waits aside', 'review', null, {}, 'blocked', null, false],
    ['nobody has what goes back into the queue', 'in_progress', 'ann', {}, 'todo', null, false],
    ['a reservation stays where it is parked', 'todo', 'ann', {}, 'backlog', 'ann', false],
  ] as const)('%s', (_, from, owner, roles, to, after, claims) => {
    const seen = seenTask({ state: from, owner });
    const fields = new Map<string, Json>(Object.entries(roles));
    const task = { ...seen, record: editRecord(seen.record, { fields }, NOW - 1) };
    const decision = decide(task, { to });
    if (decision.outcome !== 'save') throw new Error(decision.outcome);
    expect(decision.after.life.assignee).toBe(after);
    expect(decision.after.life.n - task.record.life.n).toBe(claims ? 1 : 0);
    const needs = listMoveNeeds(task, { to, reason: null }, deciding());
    expect(needs.claim_of).toBe(claims ? (after ?? undefined) : undefined);
  });

  it('Forge itself, which has no name, leads the work of nobody on and leaves it to nobody', () => {
    const task = seenTask({ state: 'blocked', owner: null });
    const move = { to: 'in_progress', reason: null };
    const system = { ...deciding('system'), actor: { kind: 'system', name: '' } } as const;
    const facts = { unfinished: undefined, claim: undefined };
    const decision = decideMove(task, move, { facts, deciding: system });
    expect(decision).toMatchObject({
      outcome: 'save',
      after: { life: { state: 'in_progress', assignee: null } },
    });
    expect(listMoveNeeds(task, move, system).claim_of).toBeUndefined();
  });

  it('a planner who goes on to the work begins it anew only where it changes hands', () => {
    const planned = seenTask({ state: 'planning', owner: 'ann' });
    const onward = decide(planned, { to: 'in_progress' });
    expect(onward.outcome === 'save' && onward.after.life).toMatchObject({
      assignee: 'ann',
      n: planned.record.life.n,
    });
    expect(listMoveNeeds(planned, { to: 'in_progress', reason: null }, deciding()).claim_of).toBeUndefined();
  });
});
