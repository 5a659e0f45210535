import { describe, expect, it } from 'vitest';
import { countRejections, findGranted, grantsBudget, type BudgetMove } from './retry-budget.ts';
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

  const NO = { ...move('review', 'in_progress', 'system'), rejection: true };
  const MERGE_NO = { ...move('merging', 'in_progress', 'system'), rejection: true };
  const LAST = { ...move('review', 'blocked', 'system'), rejection: true };
  const FREE = { ...move('review', 'in_progress', 'user:ann'), rejection: false };
  const by = (triggered_by: string) => ({ ...move('blocked', 'todo', triggered_by), rejection: false });

  it.each([
    ['nothing', [], {}],
    ['each gate by itself', [NO, MERGE_NO, NO], { review: 2, merging: 1 }],
    ['no word of a person', [NO, FREE, FREE], { review: 1 }],
    ['nothing before a person unblocked it', [NO, NO, LAST, by('user:ann')], {}],
    ['what came after that', [NO, MERGE_NO, by('user:ann'), NO], { review: 1 }],
    ['all where an agent unblocked it', [NO, LAST, by('agent:bot'), NO], { review: 3 }],
    ['all where Forge unblocked it', [NO, LAST, by('system')], { review: 2 }],
  ])('counts %s', (_what, moves, counted) => {
    expect(Object.fromEntries(countRejections(WORKFLOW, moves))).toEqual(counted);
  });

  it('knows when it was last granted', () => {
    const at = (created_at: string, triggered_by: string) => ({ ...by(triggered_by), created_at });
    expect(findGranted(WORKFLOW, [at('1', 'agent:bot')])).toBeUndefined();
    const moves = [at('1', 'user:ann'), at('2', 'user:bea'), at('3', 'agent:bot')];
    expect(findGranted(WORKFLOW, moves)).toBe('2');
  });
});
