import { describe, expect, it } from 'vitest';
import type { Workflow } from '#contract/workflow.ts';
import { DEFAULT_WORKFLOW } from '#domain/default-workflow.ts';
import {
  ANN,
  BOT,
  renameWorkflow,
  REVIEWER,
  sqliteEngine,
  tempEngine,
  withoutActions,
  type TempEngine,
} from '../../tests/support/temp-engine.ts';
import { assignRole, listRoles } from './assign-role.ts';
import { claimNext, claimTask, closeTask, releaseTask, reopenTask, updateTask } from './change-task.ts';
import { transitionTask } from './transition-task.ts';

const NAMINGS: [string, (name: string) => string][] = [
  ['the default workflow', (name) => name],
  ['the same with every state and role renamed [S349]', (name) => `x-${name.replaceAll('_', '-')}`],
];

describe.each(NAMINGS)('%s', (_title, n) => {
  const definition = renameWorkflow(DEFAULT_WORKFLOW, n);
  const walkable = withoutActions(definition, 'run_ci_steps', 'run_merge');
  const move = (engine: TempEngine, id: string, to: string, actor = ANN) =>
    transitionTask(engine.as(actor), { id, to: n(to), reason: null });
  const claim = (engine: TempEngine, id: string, actor = BOT) =>
    claimTask(engine.as(actor), { id, assignee: actor.name, force: false });

  it('a claim leads to work, a release back, a close out of it, a reopen to the queue', async () => {
    await using engine = await tempEngine(definition);
    const { id, state } = await engine.create('Walked');
    expect(state).toBe(n('todo'));
    expect(await claim(engine, id)).toMatchObject({
      outcome: 'claimed',
      task: { state: n('in_progress'), status: 'in_progress', assignee: 'bot' },
    });
    const released = await releaseTask(engine.as(BOT), { id, owner: 'bot', force: false, reason: null });
    expect(released).toMatchObject({ state: n('todo'), status: 'open', assignee: null });
    expect(await closeTask(engine.as(ANN), { id, reason: 'done' })).toMatchObject({ state: n('done') });
    const reopened = await reopenTask(engine.as(ANN), { id, reason: null });
    expect(reopened).toMatchObject({ state: n('todo'), status: 'open' });
    const cancelled = await closeTask(engine.as(ANN), { id, reason: 'duplicate: of another' });
    expect(cancelled.state).toBe(n('cancelled'));
    expect(await engine.states(id)).toEqual([
      `${n('in_progress')} by agent:bot`,
      `${n('todo')} by agent:bot`,
      `${n('done')} by user:ann`,
      `${n('todo')} by user:ann`,
      `${n('cancelled')} by user:ann`,
    ]);
  });

  it('the moves of the agent loop are transitions like any other', async () => {
    await using engine = await tempEngine(definition);
    const { id } = await engine.create('Looped');
    const claimed = await updateTask(engine.as(BOT), { id, status: 'in_progress', assignee: 'bot' });
    expect(claimed).toMatchObject({ claimed: true, state: n('in_progress') });
    const lost = await updateTask(engine.as(REVIEWER), { id, status: 'in_progress', assignee: 'critic' });
    expect(lost).toMatchObject({ claimed: false, assignee: 'bot' });
    expect(await updateTask(engine.as(BOT), { id, status: 'open', assignee: null })).toMatchObject({
      state: n('todo'),
    });
    expect(await updateTask(engine.as(ANN), { id, state: n('backlog') })).toMatchObject({
      state: n('backlog'),
      status: 'open',
    });
    expect(await engine.temp.store.listReady({})).toEqual([]);
    await expect(updateTask(engine.as(ANN), { id, state: n('review') })).rejects.toMatchObject({
      code: 'state_invalid',
    });
    expect(await updateTask(engine.as(ANN), { id, status: 'closed' })).toMatchObject({ state: n('done') });
  });

  it('[S169] a parked task is claimed by nobody, and queued by a person [S342]', async () => {
    await using engine = await tempEngine(definition);
    const { id } = await engine.create('Parked', { state: n('backlog') });
    expect(await claim(engine, id)).toMatchObject({ outcome: 'parked' });
    expect(await claimNext(engine.as(BOT), { assignee: 'bot' })).toBeUndefined();
    expect(await move(engine, id, 'todo')).toMatchObject({ state: n('todo'), status: 'open' });
    expect(await claimNext(engine.as(BOT), { assignee: 'bot' })).toMatchObject({
      id,
      state: n('in_progress'),
    });
  });

  it('[S376] [S345] every state but the last ones can be cancelled and blocked', async () => {
    for (const state of walkable.states.filter(({ kind }) => kind !== 'terminal')) {
      for (const to of ['cancelled', 'blocked']) {
        if (state.name === n(to)) continue;
        await using engine = await tempEngine(walkable);
        const id = await bringTo(engine, state.name, n);
        const moved = await move(engine, id, to);
        expect([state.name, moved.state]).toEqual([state.name, n(to)]);
        expect(moved.status).toBe(to === 'cancelled' ? 'closed' : 'in_progress');
      }
    }
  });

  it('[S178] only drawn edges are walked, and a refusal names those', async () => {
    await using engine = await tempEngine(definition);
    const { id } = await engine.create('Straight');
    await expect(move(engine, id, 'done')).rejects.toMatchObject({
      code: 'state_invalid',
      hint: `forge task close ${id} --reason "…"`,
    });
    await expect(move(engine, id, 'merging')).rejects.toMatchObject({
      code: 'state_invalid',
      details: { next: [n('planning'), n('in_progress'), n('backlog'), n('blocked'), n('cancelled')] },
    });
    await expect(move(engine, id, 'nowhere')).rejects.toMatchObject({ code: 'state_invalid' });
    expect(await engine.states(id)).toEqual([]);
  });

  it('what cannot be done here is refused by name, and nothing has moved', async () => {
    await using engine = await tempEngine(definition);
    const { id } = await engine.create('Reviewed');
    await claim(engine, id);
    await expect(move(engine, id, 'review', BOT)).rejects.toMatchObject({
      code: 'not_available',
      details: { action: 'run_ci_steps' },
    });
    expect(await engine.states(id)).toHaveLength(1);
    // Who does not stay to watch it starts no agent: the claim says whose the task is.
    engine.managed.add('robot');
    const { id: second } = await engine.create('Claimed');
    expect(await claimTask(engine.as(ANN), { id: second, assignee: 'robot', force: false })).toMatchObject({
      outcome: 'claimed',
    });
    expect(await engine.states(second)).toHaveLength(1);
  });

  it('[S177] [S368] a version that is not the task’s is refused before anything else', async () => {
    await using engine = await tempEngine(definition);
    const { id, version } = await engine.create('Versioned');
    await engine.temp.store.updateTask({ id, title: 'Changed' }, engine.as(ANN).by);
    const stale = { id, to: n('nowhere'), reason: null, version };
    await expect(transitionTask(engine.as(ANN), stale)).rejects.toMatchObject({
      code: 'version_conflict',
      details: { version: version + 1 },
    });
  });

  it('[S181] state, version, log row and event come together', async () => {
    await using engine = await tempEngine(walkable);
    const { id, version } = await engine.create('Together');
    const before = await engine.temp.store.newestEvent();
    const moved = await move(engine, id, 'in_progress', BOT);
    expect(moved).toMatchObject({ version: version + 1, assignee: 'bot' });
    expect(await engine.temp.store.newestEvent()).toBe(before + 2);
    expect(await engine.temp.store.readHistory({ id, limit: 1 })).toMatchObject([
      { type: 'task.claimed', to_state: n('in_progress') },
    ]);
    expect(await engine.temp.store.listTransitions({ id, limit: undefined })).toMatchObject([
      { from_state: n('todo'), to_state: n('in_progress'), rejection: false, triggered_by: 'agent:bot' },
    ]);
  });

  it('[S392] [S361] [S362] [S365] the gate of dependencies acts on claims and on agents’ moves to work', async () => {
    await using engine = await tempEngine(walkable);
    const blocker = await engine.create('First');
    const { id, state } = await engine.create('Second', { depends_on: [blocker.id] });
    expect(state).toBe(n('todo'));
    expect(await claim(engine, id)).toMatchObject({ outcome: 'blocked', blockers: [{ id: blocker.id }] });
    await expect(move(engine, id, 'in_progress', BOT)).rejects.toMatchObject({
      code: 'guard_rejected',
      details: { action: 'dependency_gate' },
    });
    // Parking, blocking and closing are no work.
    expect(await move(engine, id, 'backlog', BOT)).toMatchObject({ state: n('backlog') });
    await move(engine, id, 'todo', ANN);
    await closeTask(engine.as(ANN), { id: blocker.id, reason: 'cancelled' });
    // A closed blocker frees, cancelled or done; then anyone may claim.
    expect(await claim(engine, id)).toMatchObject({ outcome: 'claimed' });
  });

  it('[S363] [S364] who did the work of a blocker in a gate may go on', async () => {
    await using engine = await tempEngine(walkable);
    const blocker = await engine.create('First');
    const { id } = await engine.create('Second', { depends_on: [blocker.id] });
    await claim(engine, blocker.id, BOT);
    expect(await claim(engine, id)).toMatchObject({ outcome: 'blocked' });
    await move(engine, blocker.id, 'review', BOT);
    expect(await claim(engine, id, REVIEWER)).toMatchObject({ outcome: 'blocked' });
    expect(await claim(engine, id, BOT)).toMatchObject({ outcome: 'claimed' });
  });

  it('[L1] [S364] the context is of who submitted a blocker, whoever has it now', async () => {
    await using engine = await sqliteEngine(walkable);
    const blocker = await engine.create('First');
    const { id } = await engine.create('Second', { depends_on: [blocker.id] });
    await claim(engine, blocker.id, BOT);
    await move(engine, blocker.id, 'review', ANN);
    expect(await updateTask(engine.as(ANN), { id: blocker.id, assignee: 'critic' })).toMatchObject({
      state: n('review'),
      assignee: 'critic',
    });
    expect(await claim(engine, id, REVIEWER)).toMatchObject({ outcome: 'blocked' });
    // From gate to gate nothing new is submitted, and the files alone say the same.
    await move(engine, blocker.id, 'merging', ANN);
    await engine.rebuild();
    expect(await claim(engine, id, REVIEWER)).toMatchObject({ outcome: 'blocked' });
    expect(await claim(engine, id, ANN)).toMatchObject({ outcome: 'blocked' });
    const again = await engine.create('Third', { depends_on: [blocker.id] });
    expect(await claim(engine, id, BOT)).toMatchObject({ outcome: 'claimed' });
    // Whoever submits it again has the context from then on.
    await move(engine, blocker.id, 'merge_failed', ANN);
    await move(engine, blocker.id, 'in_progress', ANN);
    await move(engine, blocker.id, 'review', REVIEWER);
    expect(await claim(engine, again.id, BOT)).toMatchObject({ outcome: 'blocked' });
    expect(await claim(engine, again.id, REVIEWER)).toMatchObject({ outcome: 'claimed' });
  });

  it('[S359] [S360] who is paused claims nothing; people may in a paused project', async () => {
    await using engine = await tempEngine(definition);
    const { id } = await engine.create('Wanted');
    engine.paused.add('bot');
    expect(await claim(engine, id)).toMatchObject({ outcome: 'agent_paused', agent: 'bot' });
    await expect(claimNext(engine.as(BOT), { assignee: 'bot' })).rejects.toMatchObject({
      code: 'agent_paused',
    });
    engine.paused.clear();
    await engine.temp.store.pauseProject(true, engine.as(ANN).by);
    expect(await claim(engine, id)).toMatchObject({ outcome: 'project_paused' });
    await expect(claimNext(engine.as(BOT), { assignee: 'bot' })).rejects.toMatchObject({
      code: 'project_paused',
    });
    expect(await claim(engine, id, ANN)).toMatchObject({ outcome: 'claimed' });
    await engine.temp.store.pauseProject(false, engine.as(ANN).by);
    const other = await engine.create('Other');
    expect(await claim(engine, other.id)).toMatchObject({ outcome: 'claimed' });
  });

  it('[S172] [S198] [S199] [S200] a gate says no as often as it may, and people’s bounces are free', async () => {
    await using engine = await tempEngine(walkable);
    const id = await bringTo(engine, n('review'), n);
    const again = async (): Promise<void> => void (await move(engine, id, 'review', BOT));
    await move(engine, id, 'in_progress', ANN);
    await again();
    for (let said = 1; said <= 3; said += 1) {
      expect(await move(engine, id, 'in_progress', REVIEWER)).toMatchObject({ state: n('in_progress') });
      await again();
    }
    const blocked = await move(engine, id, 'in_progress', REVIEWER);
    expect(blocked).toMatchObject({ state: n('blocked'), error_annotation: { code: 'retry_budget' } });
    const rejected = (await engine.temp.store.listTransitions({ id, limit: undefined })).filter(
      ({ rejection }) => rejection,
    );
    expect(rejected.map(({ from_state }) => from_state)).toEqual(Array(4).fill(n('review')));
    // An agent that takes it on grants itself nothing: the gate sends it away before it does anything.
    await move(engine, id, 'in_progress', BOT);
    expect(await move(engine, id, 'review', BOT)).toMatchObject({
      state: n('blocked'),
      error_annotation: { code: 'retry_budget' },
    });
    // A person who does grants the whole budget again, and the reason is settled.
    expect((await move(engine, id, 'in_progress', ANN)).error_annotation).toBeUndefined();
    for (let said = 1; said <= 3; said += 1) {
      await again();
      expect(await move(engine, id, 'in_progress', REVIEWER)).toMatchObject({ state: n('in_progress') });
    }
    await again();
    expect(await move(engine, id, 'in_progress', REVIEWER)).toMatchObject({ state: n('blocked') });
    // So does one who cancels and reopens it; an agent that reopens it does not.
    await move(engine, id, 'cancelled', ANN);
    await reopenTask(engine.as(BOT), { id, reason: null });
    expect((await engine.temp.store.readStanding(id)).rejections.get(n('review'))).toBe(4);
    await closeTask(engine.as(ANN), { id, reason: 'cancelled' });
    await reopenTask(engine.as(ANN), { id, reason: null });
    expect((await engine.temp.store.readStanding(id)).rejections.get(n('review'))).toBeUndefined();
  });

  it('a gate that may not say no once lets in what it never refused, and blocks at the first no', async () => {
    const states = walkable.states.map((state) =>
      state.name === n('review') ? { ...state, gate_config: { max_rejections: 0 } } : state,
    );
    await using engine = await tempEngine({ ...walkable, states });
    const id = await bringTo(engine, n('review'), n);
    expect((await engine.temp.store.getTask(id)).state).toBe(n('review'));
    expect(await move(engine, id, 'in_progress', REVIEWER)).toMatchObject({ state: n('blocked') });
  });

  it('[S183] [S184] a gate with a budget looks at it first, once, and the log has it', async () => {
    await using engine = await tempEngine(walkable);
    const id = await bringTo(engine, n('review'), n);
    const moves = await engine.temp.store.listTransitions({ id, limit: undefined });
    expect(moves.at(-1)?.hook_results).toEqual([
      { phase: 'after_enter', action: 'check_retry_budget', outcome: 'passed' },
    ]);
    expect(moves.at(0)?.hook_results).toEqual([
      { phase: 'before_exit', action: 'dependency_gate', outcome: 'passed' },
    ]);
  });

  it('a gate whose budget is spent runs nothing of its own, after what belongs to the state before it', async () => {
    const hooks = [{ action: 'dependency_gate', on_failure: 'log' as const }];
    const states = walkable.states.map((state) => {
      if (state.name === n('in_progress')) return { ...state, on_exit: hooks };
      return state.name === n('review')
        ? { ...state, gate_config: { max_rejections: 0 }, on_enter: hooks }
        : state;
    });
    await using engine = await tempEngine({ ...walkable, states });
    const id = await bringTo(engine, n('review'), n);
    expect(await move(engine, id, 'in_progress', REVIEWER)).toMatchObject({ state: n('blocked') });
    await move(engine, id, 'in_progress', BOT);
    expect(await move(engine, id, 'review', BOT)).toMatchObject({ state: n('blocked') });
    const moves = await engine.temp.store.listTransitions({ id, limit: undefined });
    const last = moves.findLast(({ to_state }) => to_state === n('review'));
    expect(last?.hook_results?.map(({ phase, action }) => `${phase} ${action}`)).toEqual([
      'on_exit dependency_gate',
      'after_enter check_retry_budget',
    ]);
  });

  it('[S192] [S193] [S194] [S339] [S381] [S382] [S387] roles: by claim where free, and nobody else’s', async () => {
    await using engine = await tempEngine(definition);
    const { id } = await engine.create('Roles');
    const role = (name: string, holder: { agent: string } | { user: string } | null) =>
      assignRole(engine.as(ANN), {
        id,
        role: n(name),
        holder,
        reset_worktree: false,
        reset_workspace: false,
      });
    await role('reviewer', { user: 'ann' });
    await role('coder', { agent: 'critic' });
    expect(await claim(engine, id, BOT)).toMatchObject({ outcome: 'role', holder: 'critic' });
    await role('coder', null);
    await claim(engine, id, BOT);
    expect(await listRoles(engine.temp.store, engine.workflow, id)).toEqual([
      { role: n('planner'), holder: null, from: null },
      { role: n('coder'), holder: { agent: 'bot' }, from: 'claim' },
      { role: n('reviewer'), holder: { user: 'ann' }, from: 'assigned' },
    ]);
    // Of the states that a claim can lead to, the one whose role the claimer has comes first.
    const planned = await engine.create('Planned');
    await assignRole(engine.as(ANN), {
      id: planned.id,
      role: n('planner'),
      holder: { agent: 'bot' },
      reset_worktree: false,
      reset_workspace: false,
    });
    expect(await claim(engine, planned.id, BOT)).toMatchObject({ task: { state: n('planning') } });
    // Another role changes nothing else; the one at work takes the task back to the queue.
    expect(await role('reviewer', { agent: 'critic' })).toMatchObject({ state: n('in_progress') });
    expect(await role('coder', { agent: 'critic' })).toMatchObject({ state: n('todo'), assignee: null });
    await expect(role('nobody', null)).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(
      assignRole(engine.as(BOT), {
        id,
        role: n('coder'),
        holder: { agent: 'bot' },
        reset_worktree: false,
        reset_workspace: false,
      }),
    ).rejects.toMatchObject({ code: 'permission_denied' });
    await closeTask(engine.as(ANN), { id, reason: 'done' });
    await expect(role('reviewer', null)).rejects.toMatchObject({ code: 'state_invalid' });
  });

  it('a planner who was named plans before the coder works', async () => {
    await using engine = await tempEngine(definition);
    const { id } = await engine.create('Planned');
    const change = { id, reset_worktree: false, reset_workspace: false };
    await assignRole(engine.as(ANN), { ...change, role: n('planner'), holder: { agent: 'bot' } });
    await assignRole(engine.as(ANN), { ...change, role: n('coder'), holder: { agent: 'critic' } });
    expect(await claim(engine, id, BOT)).toMatchObject({ task: { state: n('planning'), assignee: 'bot' } });
    expect(await move(engine, id, 'in_progress', BOT)).toMatchObject({ assignee: 'critic' });
  });
});

/** Walks a task to a state on the shortest way there is. */
async function bringTo(engine: TempEngine, state: string, n: (name: string) => string): Promise<string> {
  const { id } = await engine.create('Brought', {
    state: state === n('backlog') ? state : engine.workflow.initial,
  });
  const ways: Record<string, string[]> = {
    planning: ['planning'],
    in_progress: ['in_progress'],
    review: ['in_progress', 'review'],
    merging: ['in_progress', 'review', 'merging'],
    merge_failed: ['in_progress', 'review', 'merging', 'merge_failed'],
    blocked: ['blocked'],
  };
  const name = Object.keys(ways).find((one) => n(one) === state);
  for (const step of ways[name ?? ''] ?? [])
    await transitionTask(engine.as(BOT), { id, to: n(step), reason: null });
  return id;
}

describe('hooks', () => {
  const flow = (states: Workflow['states']): Workflow => ({ states, status_states: { closed: 'done' } });
  const LAST: Workflow['states'] = [
    { name: 'done', kind: 'terminal' },
    { name: 'cancelled', kind: 'terminal' },
  ];

  it('[S179] [S180] a guard that blocks refuses, one that is logged does not, a cancel asks none', async () => {
    const guarded = (on_failure: 'block' | 'log'): Workflow =>
      flow([
        {
          name: 'open',
          kind: 'initial',
          next: ['check'],
          before_exit: [{ action: 'require_role', on_failure }],
        },
        { name: 'check', kind: 'gate', role: 'judge', next: ['done'] },
        { name: 'work', kind: 'active', next: ['check'] },
        ...LAST,
      ]);
    await using strict = await tempEngine(guarded('block'));
    const { id } = await strict.create('Guarded');
    await expect(transitionTask(strict.as(ANN), { id, to: 'check', reason: null })).rejects.toMatchObject({
      code: 'guard_rejected',
      details: { action: 'require_role' },
    });
    expect(await transitionTask(strict.as(ANN), { id, to: 'cancelled', reason: null })).toMatchObject({
      state: 'cancelled',
    });
    await using loose = await tempEngine(guarded('log'));
    const { id: other } = await loose.create('Logged');
    await transitionTask(loose.as(ANN), { id: other, to: 'check', reason: null });
    expect(await loose.temp.store.listTransitions({ id: other, limit: 1 })).toMatchObject([
      { hook_results: [{ phase: 'before_exit', action: 'require_role', outcome: 'failed' }] },
    ]);
  });

  it('[S175] nothing happens in a custom state but what its hooks say', async () => {
    await using engine = await tempEngine(
      flow([
        { name: 'open', kind: 'initial', next: ['work'] },
        { name: 'work', kind: 'active', next: ['waiting'] },
        { name: 'waiting', kind: 'custom', next: ['work', 'done'] },
        ...LAST,
      ]),
    );
    const { id } = await engine.create('Waits');
    await transitionTask(engine.as(BOT), { id, to: 'work', reason: null });
    const before = await engine.temp.store.getTask(id);
    const waiting = await transitionTask(engine.as(BOT), { id, to: 'waiting', reason: null });
    expect(waiting).toMatchObject({ state: 'waiting', assignee: before.assignee });
    expect(waiting.roles).toEqual(before.roles);
    const [moved] = await engine.temp.store.listTransitions({ id, limit: 1 });
    expect(moved).toMatchObject({ to_state: 'waiting', rejection: false, hook_results: null });
    expect(await engine.temp.store.listReviews({ task_id: id })).toEqual([]);
    expect(await engine.temp.store.listReady({})).toEqual([]);
  });

  it('[L2] the owner of a task who has another role does not stand for a role that is free', async () => {
    await using engine = await tempEngine({
      roles: ['dev', 'qa'],
      ...flow([
        { name: 'open', kind: 'initial', next: ['work'] },
        {
          name: 'work',
          kind: 'active',
          role: 'dev',
          next: ['check'],
          before_exit: [{ action: 'require_role', on_failure: 'block' }],
        },
        { name: 'check', kind: 'gate', role: 'qa', next: ['done'] },
        ...LAST,
      ]),
    });
    const { id } = await engine.create('Owned');
    await claimTask(engine.as(BOT), { id, assignee: 'bot', force: false });
    const move = () => transitionTask(engine.as(ANN), { id, to: 'check', reason: null });
    await expect(move()).rejects.toMatchObject({
      code: 'guard_rejected',
      details: { action: 'require_role' },
    });
    await assignRole(engine.as(ANN), {
      id,
      role: 'qa',
      holder: { user: 'ann' },
      reset_worktree: false,
      reset_workspace: false,
    });
    expect(await move()).toMatchObject({ state: 'check' });
  });

  it('[S185] [S186] a cascade leads on as the system, three times at most', async () => {
    const chain = Array.from({ length: 6 }, (_, at) => ({
      name: `step-${at}`,
      kind: 'custom' as const,
      next: [`step-${at + 1}`],
      after_enter: [{ action: 'cascade', to: `step-${at + 1}` }],
    }));
    await using engine = await tempEngine(
      flow([
        { name: 'open', kind: 'initial', next: ['step-0'] },
        ...chain,
        { name: 'step-6', kind: 'custom', next: ['done'] },
        ...LAST,
      ]),
    );
    const { id } = await engine.create('Led');
    const asked = engine.as(ANN);
    let now = asked.by.now;
    const clock = { now: () => (now += 60_000) };
    const moved = await transitionTask({ ...asked, clock }, { id, to: 'step-0', reason: null });
    expect(moved.state).toBe('step-3');
    const log = await engine.temp.store.listTransitions({ id, limit: 9 });
    const minutes = log.map(({ created_at }) => Math.round((Date.parse(created_at) - asked.by.now) / 60_000));
    expect(minutes.toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3]);
    expect(await engine.states(id)).toEqual([
      'step-0 by user:ann',
      'step-1 by system',
      'step-2 by system',
      'step-3 by system',
    ]);
  });

  it('[S182] [S187] [S188] [S189] [S191] phases in their order, for those they are meant for', async () => {
    // Another action for each, so that the log says which of them ran.
    const both = [
      { action: 'require_role', audience: 'agent_only' as const, on_failure: 'log' as const },
      { action: 'check_retry_budget', audience: 'user_only' as const, on_failure: 'log' as const },
      { action: 'dependency_gate', audience: 'all' as const, on_failure: 'log' as const },
    ];
    await using engine = await tempEngine(
      flow([
        { name: 'open', kind: 'initial', next: ['a'] },
        { name: 'a', kind: 'active', next: ['b'], before_exit: both, on_exit: both },
        { name: 'b', kind: 'active', next: ['done'], on_enter: both, after_enter: both },
        ...LAST,
      ]),
    );
    const walk = async (actor: typeof ANN): Promise<string[]> => {
      const { id } = await engine.create('Walked');
      await transitionTask(engine.as(actor), { id, to: 'a', reason: null });
      await transitionTask(engine.as(actor), { id, to: 'b', reason: null });
      const [last] = await engine.temp.store.listTransitions({ id, limit: 1 });
      return (last?.hook_results ?? []).map(({ phase, action }) => `${phase} ${action}`);
    };
    const inEach = (...actions: string[]): string[] =>
      ['before_exit', 'on_exit', 'on_enter', 'after_enter'].flatMap((phase) =>
        actions.map((action) => `${phase} ${action}`),
      );
    expect(await walk(ANN)).toEqual(inEach('check_retry_budget', 'dependency_gate'));
    expect(await walk(BOT)).toEqual(inEach('require_role', 'dependency_gate'));
    // What Forge does by itself is under the rules of agents, and never under those of people.
    expect(await walk({ kind: 'system', name: '', named: true })).toEqual(
      inEach('require_role', 'dependency_gate'),
    );
    expect(await walk({ kind: 'system', name: 'scheduler', named: true })).toEqual(
      inEach('require_role', 'dependency_gate'),
    );
    const { id } = await engine.create('Cancelled');
    await transitionTask(engine.as(ANN), { id, to: 'a', reason: null });
    await transitionTask(engine.as(ANN), { id, to: 'cancelled', reason: null });
    const [last] = await engine.temp.store.listTransitions({ id, limit: 1 });
    // Guards are not asked, and what is about work does not concern it.
    expect(last?.hook_results?.map(({ phase, action }) => `${phase} ${action}`)).toEqual([
      'on_exit check_retry_budget',
    ]);
  });

  it('[S195] an active state without a role binds the assignee, other kinds nobody', async () => {
    await using engine = await tempEngine(
      flow([
        { name: 'open', kind: 'initial', next: ['work'] },
        { name: 'work', kind: 'active', next: ['done'] },
        ...LAST,
      ]),
    );
    const { id } = await engine.create('Bound');
    expect(await listRoles(engine.temp.store, engine.workflow, id)).toEqual([
      { role: 'assignee', holder: null, from: null },
    ]);
    await claimTask(engine.as(ANN), { id, assignee: 'ann', force: false });
    expect(await listRoles(engine.temp.store, engine.workflow, id)).toEqual([
      { role: 'assignee', holder: { user: 'ann' }, from: 'claim' },
    ]);
  });
});
