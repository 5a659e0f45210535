import { describe, expect, it } from 'vitest';
import type { Run } from '#contract/attempt.ts';
import type { Task } from '#contract/task.ts';
import { NO_USAGE } from './count-usage.ts';
import type { Suspension } from './decide-suspension.ts';
import { planDispatch, type DispatchFacts } from './plan-dispatch.ts';
import { DEFAULT_RESOLVED } from './workflow.ts';

const NOW = Date.parse('2026-03-01T12:00:00.000Z');
const MINUTE = 60_000;

function task(id: string, more: Partial<Task> = {}): Task {
  // Only what the plan looks at.
  return { id, status: 'open', state: 'todo', assignee: null, ...more } as Task;
}

function run(task_id: string, outcome: Run['outcome'], more: Partial<Run> = {}): Run {
  const at = new Date(NOW - MINUTE).toISOString();
  const usage = NO_USAGE;
  const times = { created_at: at, started_at: at, ended_at: outcome === null ? null : at };
  return { task_id, role: 'coder', agent: 'w1', outcome, retry_after: null, usage, ...times, ...more } as Run;
}

const agent = (name: string, max = 1, paused = false) => ({ name, max, paused });

function facts(more: Partial<DispatchFacts>): DispatchFacts {
  return {
    now: NOW,
    ready: [],
    agents: [agent('w1', 4)],
    runs: [],
    working: new Map(),
    places: 100,
    per_state: new Map(),
    in_state: new Map(),
    backoff: { first_ms: 2 * MINUTE, last_ms: 10 * MINUTE },
    ...more,
  };
}

const plan = (more: Partial<DispatchFacts>) => {
  const { starts, until, is_crowded } = planDispatch(DEFAULT_RESOLVED, facts(more));
  return { starts: starts.map((start) => `${start.task.id} ${start.agent}`), until, is_crowded };
};

describe('what is started', () => {
  it('comes in its order, and goes to whoever has least to do', () => {
    const ready = [task('a'), task('b'), task('c'), task('d')];
    const working = new Map([['x', 'w1']]);
    expect(plan({ ready, working, agents: [agent('w1', 9), agent('w2', 9)] }).starts).toEqual([
      'a w2',
      'b w1',
      'c w2',
      'd w1',
    ]);
  });

  it('goes to the agent that was named first, where none has anything to do', () => {
    expect(plan({ ready: [task('a')], agents: [agent('w1'), agent('w2'), agent('w3')] }).starts).toEqual([
      'a w1',
    ]);
  });

  it('is bound by the places of each agent, and of all', () => {
    const ready = [task('a'), task('b'), task('c')];
    expect(plan({ ready, agents: [agent('w1', 2)] })).toEqual({
      starts: ['a w1', 'b w1'],
      until: undefined,
      is_crowded: true,
    });
    expect(plan({ ready, places: 1 })).toMatchObject({ starts: ['a w1'], is_crowded: true });
    expect(plan({ ready, places: -1 })).toMatchObject({ starts: [], is_crowded: true });
  });

  it('is nothing of a paused agent, and nothing that is at work', () => {
    expect(plan({ ready: [task('a')], agents: [agent('w1', 4, true)] })).toEqual({
      starts: [],
      until: undefined,
      is_crowded: false,
    });
    expect(plan({ ready: [task('a')], working: new Map([['a', 'w1']]) }).starts).toEqual([]);
  });

  it('fills a state up to its bound, and waits for a gate that is full', () => {
    const ready = [task('a'), task('b')];
    const per_state = new Map([['in_progress', 2]]);
    expect(plan({ ready, per_state, in_state: new Map([['in_progress', 1]]) }).starts).toEqual(['a w1']);
    expect(
      plan({ ready, per_state: new Map([['review', 3]]), in_state: new Map([['review', 3]]) }).starts,
    ).toEqual([]);
    expect(
      plan({ ready, per_state: new Map([['planning', 1]]), in_state: new Map([['planning', 1]]) }).starts,
    ).toEqual(['a w1', 'b w1']);
  });
});

describe('who takes it', () => {
  const agents = [agent('w1', 4), agent('w2', 4)];

  it('is whoever has its role, or whoever it is kept for', () => {
    expect(plan({ agents, ready: [task('a', { roles: { coder: { agent: 'w2' } } })] }).starts).toEqual([
      'a w2',
    ]);
    expect(plan({ agents, ready: [task('a', { assignee: 'w2' })] }).starts).toEqual(['a w2']);
  });

  it('is nobody where that is a person, or an agent that is not asked for', () => {
    expect(plan({ agents, ready: [task('a', { roles: { coder: { user: 'ann' } } })] }).starts).toEqual([]);
    expect(plan({ agents, ready: [task('a', { roles: { coder: { agent: 'w3' } } })] }).starts).toEqual([]);
  });

  it('is the planner first, and the coder when it is planned', () => {
    const roles = { planner: { agent: 'w2' }, coder: { agent: 'w1' } };
    const ready = [task('a', { roles })];
    expect(plan({ agents, ready }).starts).toEqual(['a w2']);
    const runs = [run('a', 'completed', { role: 'planner', agent: 'w2' })];
    expect(plan({ agents, ready, runs }).starts).toEqual(['a w1']);
    expect(plan({ agents, ready: [task('a', { roles: { planner: { user: 'ann' } } })] }).starts).toEqual([]);
  });
});

describe('what failed', () => {
  const ready = [task('a')];
  const fails = (count: number) => Array.from({ length: count }, () => run('a', 'failed'));

  it('waits twice as long each time, up to a bound', () => {
    const ended = NOW - MINUTE;
    expect(plan({ ready, runs: fails(1) }).until).toBe(ended + 2 * MINUTE);
    expect(plan({ ready, runs: fails(2) }).until).toBe(ended + 4 * MINUTE);
    expect(plan({ ready, runs: fails(3) }).until).toBe(ended + 8 * MINUTE);
    expect(plan({ ready, runs: fails(9) }).until).toBe(ended + 10 * MINUTE);
    expect(plan({ ready, runs: fails(1), now: ended + 2 * MINUTE }).starts).toEqual(['a w1']);
  });

  it('counts from the last time that it got somewhere', () => {
    expect(plan({ ready, runs: [...fails(3), run('a', 'completed')] }).starts).toEqual(['a w1']);
  });

  it('is not what was stopped, and not the first that lost whoever watched it', () => {
    expect(plan({ ready, runs: [run('a', 'stopped'), run('a', 'crashed')] }).starts).toEqual(['a w1']);
    expect(plan({ ready, runs: [run('a', 'crashed'), run('a', 'crashed')] }).until).toBe(NOW + MINUTE);
  });

  it('keeps no other task back', () => {
    expect(plan({ ready: [task('a'), task('b')], runs: fails(1) }).starts).toEqual(['b w1']);
  });
});

it('a task goes to an agent that has not failed at it, where one is free', () => {
  const agents = [agent('w1', 4), agent('w2', 4)];
  const runs = [run('a', 'no_change', { agent: 'w1', ended_at: new Date(NOW - 60 * MINUTE).toISOString() })];
  expect(plan({ ready: [task('a')], agents, runs }).starts).toEqual(['a w2']);
  expect(plan({ ready: [task('a')], agents: [agent('w1', 4)], runs }).starts).toEqual(['a w1']);
});

describe('[A16] an agent that is suspended', () => {
  const suspended = (name: string, until: number, mends: Suspension['mends'] = 'by_itself', max = 4) => ({
    ...agent(name, max),
    suspension: { agent: name, fault: 'unavailable', mends, reason: 'x', since: '', until } as const,
  });
  const ready = [task('a'), task('b')];
  const soon = NOW + 5 * MINUTE;

  it('is left alone until then, and others are not', () => {
    expect(plan({ ready, agents: [suspended('w1', soon)] })).toMatchObject({ starts: [], until: soon });
    expect(plan({ ready, agents: [suspended('w1', soon), agent('w2', 4)] }).starts).toEqual(['a w2', 'b w2']);
  });

  it('strands its tasks where a person has to see to it, unless another one will come back by itself', () => {
    const waits = planDispatch(
      DEFAULT_RESOLVED,
      facts({ ready, agents: [suspended('w1', soon, 'by_person')] }),
    );
    expect(waits).toMatchObject({ starts: [], until: undefined, is_crowded: false });
    expect(waits.stranded.map(({ id }) => id)).toEqual(['a', 'b']);
    const both = [suspended('w1', soon, 'by_person'), suspended('w2', soon + 1)];
    expect(plan({ ready, agents: both }).until).toBe(soon + 1);
  });

  it('is tried with one task when its time has come, with one that it has failed on least', () => {
    const agents = [suspended('w1', NOW)];
    expect(plan({ ready, agents })).toEqual({ starts: ['a w1'], until: undefined, is_crowded: true });
    expect(plan({ ready, agents, runs: [run('a', 'unavailable')] }).starts).toEqual(['b w1']);
    expect(plan({ ready, agents, working: new Map([['x', 'w1']]) })).toMatchObject({
      starts: [],
      is_crowded: true,
    });
    // Nothing that is tried can free it: no end would come of waiting.
    expect(
      plan({ ready, agents, per_state: new Map([['review', 1]]), in_state: new Map([['review', 1]]) }),
    ).toMatchObject({ starts: [], is_crowded: false });
  });

  it('keeps a task of several attempts waiting where none of their agents can work', () => {
    const agents = [suspended('w1', soon), agent('w2', 4)];
    expect(plan({ ready: [task('a')], agents, sides: new Map([['a', ['w1', 'w1']]]) })).toMatchObject({
      starts: [],
      until: soon,
    });
    expect(plan({ ready: [task('a')], agents, sides: new Map([['a', ['w1', 'w2']]]) }).starts).toEqual([
      'a w2',
    ]);
  });

  it('makes no task wait by its faults', () => {
    const runs = [run('a', 'unavailable'), run('a', 'auth'), run('a', 'not_installed')];
    expect(plan({ ready: [task('a')], runs }).starts).toEqual(['a w1']);
  });
});
