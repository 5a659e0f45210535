import { describe, expect, it } from 'vitest';
import type { Workflow } from '#contract/workflow.ts';
import { isForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { TaskStore } from '#store/store.ts';
import { ANN, BOT, tempEngine, type TempEngine } from '../../tests/support/temp-engine.ts';
import { assignRole } from './assign-role.ts';
import { claimNext, claimTask, closeTask, releaseTask, updateTask } from './change-task.ts';
import type { Engine } from './engine.ts';
import { transitionTask } from './transition-task.ts';

/** Every state that is entered runs one hook that leaves a result; nobody leaves `held` whose task nobody has. */
const WATCHED: Workflow = {
  states: [
    { name: 'todo', kind: 'initial', next: ['doing'], after_enter: [{ action: 'check_retry_budget' }] },
    {
      name: 'doing',
      kind: 'active',
      next: ['held', 'todo', 'done'],
      after_enter: [{ action: 'check_retry_budget' }],
    },
    { name: 'held', kind: 'custom', next: ['todo'], before_exit: [{ action: 'dependency_gate' }] },
    { name: 'done', kind: 'terminal', after_enter: [{ action: 'check_retry_budget' }] },
    { name: 'cancelled', kind: 'terminal' },
  ],
};

interface Watched {
  readonly engine: Engine;
  /** How often hooks were run, by the state they were run for. */
  readonly ran: string[];
}

/** The engine on the real store; `between` happens right before its first write of this kind. */
function watch(temp: TempEngine, write: keyof TaskStore & string, between: () => Promise<unknown>): Watched {
  const ran: string[] = [];
  const { store } = temp.temp;
  let happening: (() => Promise<unknown>) | undefined = between;
  const inner = store[write] as (...args: unknown[]) => Promise<unknown>;
  const hooked: Engine['store'] = {
    ...store,
    [write]: async (...args: unknown[]) => {
      const now = happening;
      happening = undefined;
      await now?.();
      return inner(...args);
    },
    recordHookResults: async (results) => {
      ran.push(results.to_state);
      return store.recordHookResults(results);
    },
  };
  return { engine: { ...temp.as(BOT), store: hooked }, ran };
}

describe('two who do the same at the same moment', () => {
  it('a close that somebody else was faster with runs no hooks', async () => {
    await using temp = await tempEngine(WATCHED);
    const { id } = await temp.create('Closed twice');
    const faster = watch(temp, 'closeTask', async () => undefined);
    const slower = watch(temp, 'closeTask', () => closeTask(faster.engine, { id, reason: 'first' }));
    const closed = await closeTask(slower.engine, { id, reason: 'second' });
    expect(closed).toMatchObject({ status: 'closed', close_reason: 'first', unblocked: [] });
    expect([faster.ran, slower.ran]).toEqual([['done'], []]);
    expect(await temp.states(id)).toEqual(['done by agent:bot']);
  });

  it('the same for the close of the agent loop', async () => {
    await using temp = await tempEngine(WATCHED);
    const { id } = await temp.create('Closed twice');
    const faster = watch(temp, 'updateTask', async () => undefined);
    const close = { id, status: 'closed' } as const;
    const slower = watch(temp, 'updateTask', () => updateTask(faster.engine, close));
    expect(await updateTask(slower.engine, { ...close, title: 'And renamed' })).toMatchObject({
      status: 'closed',
      title: 'And renamed',
    });
    expect([faster.ran, slower.ran]).toEqual([['done'], []]);
  });

  it('a claim under one name runs the hooks once', async () => {
    await using temp = await tempEngine(WATCHED);
    const { id } = await temp.create('Claimed twice');
    const claim = { id, assignee: 'bot', force: false };
    const faster = watch(temp, 'claimTask', async () => undefined);
    const slower = watch(temp, 'claimTask', () => claimTask(faster.engine, claim));
    expect(await claimTask(slower.engine, claim)).toMatchObject({ outcome: 'claimed', fence: 1 });
    expect([faster.ran, slower.ran]).toEqual([['doing'], []]);
  });

  it('the claim of the agent loop runs them too, and not for the one who lost it', async () => {
    await using temp = await tempEngine(WATCHED);
    const { id } = await temp.create('Claimed twice');
    const faster = watch(temp, 'updateTask', async () => undefined);
    const claim = (engine: Engine, assignee: string) =>
      updateTask(engine, { id, status: 'in_progress', assignee });
    const slower = watch(temp, 'updateTask', () => claim(faster.engine, 'bot'));
    expect(await claim(slower.engine, 'rival')).toMatchObject({ claimed: false, assignee: 'bot' });
    expect([faster.ran, slower.ran]).toEqual([['doing'], []]);
  });

  it('who lost a claim is told so at once', async () => {
    await using temp = await tempEngine(WATCHED);
    const { id } = await temp.create('Claimed');
    let tries = 0;
    const slower = watch(temp, 'readStanding', async () => undefined);
    const { store } = slower.engine;
    const counting: Engine['store'] = {
      ...store,
      claimTask: (...args) => ((tries += 1), store.claimTask(...args)),
    };
    const rival = watch(temp, 'claimTask', async () => undefined);
    const engine: Engine = {
      ...slower.engine,
      store: {
        ...counting,
        async claimTask(...args) {
          if (tries === 0) await claimTask(rival.engine, { id, assignee: 'rival', force: false });
          return counting.claimTask(...args);
        },
      },
    };
    expect(await claimTask(engine, { id, assignee: 'bot', force: false })).toMatchObject({
      outcome: 'taken',
      owner: 'rival',
    });
    expect(tries).toBe(1);
  });

  it('a release that comes after another is refused, and runs nothing', async () => {
    await using temp = await tempEngine(WATCHED);
    const { id } = await temp.create('Released twice');
    await claimTask(temp.as(BOT), { id, assignee: 'bot', force: false });
    const release = { id, owner: 'bot', force: false, reason: null };
    const faster = watch(temp, 'releaseTask', async () => undefined);
    const slower = watch(temp, 'releaseTask', () => releaseTask(faster.engine, release));
    await expect(releaseTask(slower.engine, release)).rejects.toMatchObject({ code: 'state_invalid' });
    expect([faster.ran, slower.ran]).toEqual([['todo'], []]);
  });

  it('a task that is moved while its guards run is guarded by the state it is in then', async () => {
    const gated: Workflow = {
      ...WATCHED,
      states: WATCHED.states.map((state) =>
        state.name === 'doing'
          ? { ...state, before_exit: [{ action: 'require_role' }], role: 'coder' }
          : state,
      ),
      roles: ['coder'],
    };
    await using temp = await tempEngine(gated);
    const { id } = await temp.create('Moved');
    const { engine, ran } = watch(temp, 'closeTask', () =>
      claimTask(temp.as(BOT), { id, assignee: 'bot', force: false }),
    );
    expect(await closeTask(engine, { id, reason: 'done' })).toMatchObject({ status: 'closed' });
    // Left from where it was in the end: the guard of that state has its row.
    expect(ran).toEqual(['done']);
    const moves = await temp.temp.store.listTransitions({ id, limit: undefined });
    expect(moves.at(-1)).toMatchObject({
      from_state: 'doing',
      hook_results: [{ action: 'require_role', outcome: 'passed' }, { action: 'check_retry_budget' }],
    });
  });

  it.each([
    ['an agent', { agent: 'ext' }],
    ['a person', { user: 'ext' }],
  ])('guards of agents are for who will work on it, whoever moves it: %s', async (_, holder) => {
    const guarded: Workflow = {
      roles: ['coder'],
      states: [
        {
          name: 'todo',
          kind: 'initial',
          next: ['doing'],
          before_exit: [{ action: 'dependency_gate', audience: 'agent_only' }],
        },
        { name: 'doing', kind: 'active', role: 'coder', next: ['todo', 'done'] },
        { name: 'done', kind: 'terminal' },
        { name: 'cancelled', kind: 'terminal' },
      ],
    };
    await using temp = await tempEngine(guarded);
    const blocker = await temp.create('First');
    const { id } = await temp.create('Second', { depends_on: [blocker.id] });
    const resets = { reset_worktree: false, reset_workspace: false };
    await assignRole(temp.as(ANN), { id, role: 'coder', holder, ...resets });
    const moved = transitionTask(temp.as(ANN), { id, to: 'doing', reason: null });
    const end = await moved.then(
      ({ state }) => state,
      (error: unknown) => (isForgeError(error) ? error.code : 'a bug'),
    );
    expect(end).toBe('agent' in holder ? 'guard_rejected' : 'doing');
  });

  it('only the state that the claimer will work in has to be possible here', async () => {
    const planned: Workflow = {
      roles: ['planner', 'coder'],
      states: [
        { name: 'todo', kind: 'initial', next: ['doing', 'planning'] },
        { name: 'planning', kind: 'active', role: 'planner', next: ['todo'] },
        {
          name: 'doing',
          kind: 'active',
          role: 'coder',
          next: ['todo', 'done'],
          on_enter: [{ action: 'run_ci_steps' }],
        },
        { name: 'done', kind: 'terminal' },
        { name: 'cancelled', kind: 'terminal' },
      ],
      status_states: { in_progress: 'doing' },
    };
    await using temp = await tempEngine(planned);
    const { id } = await temp.create('Planned');
    const resets = { reset_worktree: false, reset_workspace: false };
    await assignRole(temp.as(ANN), { id, role: 'planner', holder: { agent: 'bot' }, ...resets });
    const claim = (assignee: string) => claimTask(temp.as(BOT), { id, assignee, force: false });
    await expect(claim('other')).rejects.toMatchObject({ code: 'not_available' });
    expect(await claim('bot')).toMatchObject({ outcome: 'claimed', task: { state: 'planning' } });
  });

  it('an edit in between is no reason to look again', async () => {
    await using temp = await tempEngine(WATCHED);
    const { id } = await temp.create('Edited');
    const { engine, ran } = watch(temp, 'closeTask', () =>
      temp.temp.store.updateTask({ id, title: 'Renamed' }, temp.as(ANN).by),
    );
    expect(await closeTask(engine, { id, reason: 'done' })).toMatchObject({
      title: 'Renamed',
      status: 'closed',
    });
    expect(ran).toEqual(['done']);
  });
});

describe('the next task of an agent, where a guard looks at each', () => {
  const GUARDED: Workflow = {
    roles: ['dev'],
    states: [
      {
        name: 'todo',
        kind: 'initial',
        next: ['doing'],
        before_exit: [{ action: 'require_role', on_failure: 'block' }],
      },
      { name: 'doing', kind: 'active', role: 'dev', next: ['todo', 'done'] },
      { name: 'done', kind: 'terminal' },
      { name: 'cancelled', kind: 'terminal' },
    ],
  };
  const give = (temp: TempEngine, id: string) =>
    assignRole(temp.as(ANN), {
      id,
      role: 'dev',
      holder: { agent: 'bot' },
      reset_worktree: false,
      reset_workspace: false,
    });

  it('is the first that the guard lets go', async () => {
    await using temp = await tempEngine(GUARDED);
    const held = await temp.create('Of no role');
    expect(await claimNext(temp.as(BOT), { assignee: 'bot' })).toBeUndefined();
    const next = await temp.create('Of the agent');
    await give(temp, next.id);
    expect(await claimNext(temp.as(BOT), { assignee: 'bot' })).toMatchObject({ id: next.id });
    expect(await temp.temp.store.getTask(held.id)).toMatchObject({ status: 'open', assignee: null });
  });

  it('is not one that another has claimed meanwhile', async () => {
    await using temp = await tempEngine(GUARDED);
    const { id } = await temp.create('Raced');
    await give(temp, id);
    const faster = { id, assignee: 'bob', force: true, agents: new Map() };
    const { engine } = watch(temp, 'claimTask', () => temp.temp.store.claimTask(faster, temp.as(ANN).by));
    expect(await claimNext(engine, { assignee: 'bot' })).toBeUndefined();
    expect((await temp.temp.store.getTask(id)).assignee).toBe('bob');
  });
});

it.each(['a claim', 'a hand-over'])('%s is led on as often as a workflow may say', async (what) => {
  const names = Array.from({ length: LIMITS.cascade_depth }, (_, at) => `led${at}`);
  await using temp = await tempEngine({
    states: [
      { name: 'todo', kind: 'initial', next: ['doing'] },
      ...['doing', ...names].map((name, at) => ({
        name,
        kind: at === 0 ? ('active' as const) : ('custom' as const),
        next: ['done', ...names.slice(at, at + 1)],
        ...(at < names.length && { after_enter: [{ action: 'cascade' as const, to: `led${at}` }] }),
      })),
      { name: 'done', kind: 'terminal' },
      { name: 'cancelled', kind: 'terminal' },
    ],
  });
  const { id } = await temp.create('Led on');
  if (what === 'a claim') await claimTask(temp.as(BOT), { id, assignee: 'bot', force: false });
  else {
    const { store } = temp.temp;
    await store.claimTask({ id, assignee: 'bob', force: false, agents: new Map() }, temp.as(ANN).by);
    await updateTask(temp.as(ANN), { id, assignee: 'ann' });
  }
  expect((await temp.temp.store.getTask(id)).state).toBe(names.at(-1));
});
