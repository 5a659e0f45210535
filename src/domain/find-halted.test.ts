import { describe, expect, it } from 'vitest';
import { findHalted, type HaltedFacts } from './find-halted.ts';
import { DEFAULT_RESOLVED } from './workflow.ts';

type Move = HaltedFacts['moves'][number];
type Run = HaltedFacts['runs'][number];

const begin = (created_at: string, triggered_by = 'user:ann'): Move => ({
  from_status: 'open',
  to_status: 'in_progress',
  triggered_by,
  created_at,
});
const back = (created_at: string, triggered_by = 'user:ann'): Move => ({
  ...begin(created_at, triggered_by),
  from_status: 'in_progress',
});
const run = (created_at: string, more: Partial<Run> = {}): Run => ({
  attempt_id: 'a1',
  state: 'completed',
  fence: 1,
  created_at,
  ...more,
});

/** Claimed at 1, run at 2, sent back at 5. */
const FACTS: HaltedFacts = {
  task: {
    status: 'in_progress',
    state: 'in_progress',
    assignee: 'w1',
    archived_at: undefined,
    error_annotation: undefined,
  },
  attempts: [{ id: 'a1', agent: 'w1' }],
  runs: [run('2')],
  fence: 1,
  moves: [begin('1'), back('5')],
};

const find = (more: Partial<HaltedFacts>, task: Partial<HaltedFacts['task']> = {}) =>
  findHalted(DEFAULT_RESOLVED, { ...FACTS, ...more, task: { ...FACTS.task, ...task } });

describe('work that stands still', () => {
  it.each<[string, Partial<HaltedFacts>]>([
    ['after a person sent it back', {}],
    ['after Forge sent it back for a person', { moves: [begin('1'), back('5', 'system')] }],
    ['after several runs', { runs: [run('2'), run('3', { state: 'failed' })] }],
    ['with a given up attempt before', { runs: [run('1', { attempt_id: 'a0' }), run('2')] }],
  ])('is what came back %s', (_what, more) => {
    expect(find(more)).toEqual({ agent: 'w1', why: 'came_back' });
  });

  it('is what came back also where the task was begun in the moment of its run', () => {
    expect(find({ runs: [run('1')] })).toEqual({ agent: 'w1', why: 'came_back' });
    // The move that began it is no way back, in whatever moment it was.
    expect(find({ runs: [run('1')], moves: [begin('1')] })).toBeUndefined();
  });

  it('is what was deleted and restored during its run', () => {
    const more = { runs: [run('2', { state: 'cancelled' })], moves: [begin('1')] };
    expect(find({ ...more, fence: 2 })).toEqual({ agent: 'w1', why: 'lost_claim' });
    // While the claim is that of the run, the end of the run says where the task goes.
    expect(find(more)).toBeUndefined();
    expect(find({ ...more, runs: [run('2', { fence: null })], fence: 2 })).toBeUndefined();
  });

  it.each<[string, Partial<HaltedFacts>]>([
    ['an agent has claimed without a run', { moves: [begin('1'), back('5'), begin('6', 'agent:w1')] }],
    ['a person has claimed for an agent', { moves: [begin('1'), begin('6')] }],
    ['the agent moved itself', { moves: [begin('1'), back('5', 'agent:w1')] }],
    ['a run is open on', { runs: [run('2', { state: 'running' })] }],
    ['a run was begun on since', { runs: [run('6')] }],
    ['never had a run', { runs: [] }],
    ['has no attempt here', { attempts: [] }],
    [
      'has several attempts',
      {
        attempts: [
          { id: 'a1', agent: 'w1' },
          { id: 'a2', agent: 'w1' },
        ],
      },
    ],
    ['has the attempt of another agent', { attempts: [{ id: 'a1', agent: 'w2' }] }],
    ['has the attempt of a person', { attempts: [{ id: 'a1', agent: null }] }],
    ['was never moved', { moves: [] }],
  ])('is not what %s', (_what, more) => {
    expect(find(more)).toBeUndefined();
  });

  it.each<[string, Partial<HaltedFacts['task']>]>([
    ['in a gate', { state: 'review' }],
    ['blocked', { state: 'blocked' }],
    ['open', { status: 'open', state: 'todo' }],
    ["a person's or nobody's", { assignee: null }],
    ['archived', { archived_at: '2026-01-01T00:00:00.000Z' }],
    [
      'stopped by a person',
      { error_annotation: { code: 'stopped', message: 'by ann', at: '2026-01-01T00:00:00.000Z' } },
    ],
  ])('is not what is %s', (_what, task) => {
    expect(find({}, task)).toBeUndefined();
  });
});
