import { describe, expect, it } from 'vitest';
import { countRejections, grantsBudget, type BudgetMove } from './retry-budget.ts';
import { DEFAULT_RESOLVED, kindOf, statusOfKind } from './workflow.ts';

const WORKFLOW = DEFAULT_RESOLVED;
const STATES = [...WORKFLOW.states.keys()];
const ACTORS = ['user:ann', 'agent:bot', 'system', 'system:merge'];

function move(from: string, to: string, triggered_by: string): BudgetMove {
  const statusOf = (state: string) => statusOfKind(kindOf(WORKFLOW, state) ?? 'custom');
  return {
    from_state: from,
    to_state: to,
    from_status: statusOf(from),
    to_status: statusOf(to),
    triggered_by,
  };
}

describe('the budget of a gate', () => {
  it('is granted anew by people who unblock or reopen, and by nothing else', () => {
    const granting = ACTORS.flatMap((actor) =>
      STATES.flatMap((from) =>
        STATES.filter((to) => grantsBudget(WORKFLOW, move(from, to, actor))).map(
          (to) => `${actor} ${from} ${to}`,
        ),
      ),
    );
    const open = STATES.filter((state) => kindOf(WORKFLOW, state) !== 'terminal');
    const expected = STATES.flatMap((from) => {
      if (from === 'blocked') return open.filter((to) => to !== from).map((to) => `user:ann ${from} ${to}`);
      return kindOf(WORKFLOW, from) === 'terminal' ? open.map((to) => `user:ann ${from} ${to}`) : [];
    });
    expect(granting).toEqual(expected);
    expect(expected).toContain('user:ann blocked todo');
  });

  it('grants nothing where a workflow has no blocked state', () => {
    expect(grantsBudget({ blocked: undefined }, move('blocked', 'todo', 'user:ann'))).toBe(false);
  });

  const said = (from_state: string, rejection = true) => ({ from_state, rejection });

  it.each([
    ['nothing', [], {}],
    ['each gate by itself', [said('review'), said('merging'), said('review')], { review: 2, merging: 1 }],
    ['no other move', [said('review'), said('review', false)], { review: 1 }],
  ])('counts %s', (_what, moves, counted) => {
    expect(Object.fromEntries(countRejections(moves))).toEqual(counted);
  });
});
