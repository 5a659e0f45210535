import { describe, expect, it } from 'vitest';
import { RUN_STATES, type RunState } from '#contract/attempt.ts';
import { keptRun } from '../../tests/support/kept-work.ts';
import { decideRunStep } from './decide-run.ts';
import { isEnded } from './run-states.ts';
import { explainWorkRefusal } from './work-refusal.ts';

/** The edges as they are drawn, and the two that prompts without a plan and a cancelled review need besides. */
const DRAWN = `
  draft     planned cancelled
  planned   approved cancelled blocked
  approved  scheduled cancelled
  scheduled running cancelled blocked
  running   verifying failed blocked cancelled
  verifying completed failed running
  completed draft
  failed    draft
  blocked   draft cancelled
  cancelled draft
`;
const ADDED = `
  draft     completed failed
  verifying cancelled
`;

const LEGAL = new Set([...readEdges(DRAWN), ...readEdges(ADDED)]);
const PAIRS = RUN_STATES.flatMap((from) => RUN_STATES.map((to) => [from, to] as const));

describe('the states of a run', () => {
  it('[S253] exactly the drawn edges and the added ones are legal, of all pairs', () => {
    const allowed = PAIRS.filter(([from, to]) => isAllowed(from, to)).map(([from, to]) => `${from} ${to}`);
    expect(PAIRS).toHaveLength(100);
    expect(new Set(allowed)).toEqual(LEGAL);
  });

  it('[S254] an illegal move gives state_invalid, with what is allowed', () => {
    const decision = decideRunStep(keptRun({ state: 'completed' }), { to: 'approved' }, { now: 0 });
    if (decision.outcome === 'save') throw new Error('it was allowed');
    expect(explainWorkRefusal(decision)).toMatchObject({
      code: 'state_invalid',
      message: 'Run r-1 is completed and cannot become approved',
      details: { id: 'r-1', from: 'completed', to: 'approved', allowed: ['draft'] },
    });
  });

  it('what has ended can only be begun anew, as a draft, or be given up', () => {
    const ended = RUN_STATES.filter(isEnded);
    expect(ended).toEqual(['completed', 'failed', 'blocked', 'cancelled']);
    const next = ended.map((from) => RUN_STATES.filter((to) => isAllowed(from, to)));
    expect(next).toEqual([['draft'], ['draft'], ['draft', 'cancelled'], ['draft']]);
  });
});

function isAllowed(from: RunState, to: RunState): boolean {
  return decideRunStep(keptRun({ state: from }), { to }, { now: 0 }).outcome === 'save';
}

function readEdges(table: string): string[] {
  return table
    .trim()
    .split('\n')
    .flatMap((line) => {
      const [from = '', ...targets] = line.trim().split(/\s+/);
      return targets.map((to) => `${from} ${to}`);
    });
}
