import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Task, TaskView, Transition } from '#contract/task.ts';
import { forgeProjectHere } from '../support/forge-here.ts';

const BOT = { env: { FORGE_ACTOR: 'agent:bot' } };
const ANN = { env: { FORGE_ACTOR: 'user:ann' } };

/** A gate that can be walked today, under names of its own. */
const FLOW = {
  roles: ['builder', 'judge'],
  states: [
    { name: 'shelf', kind: 'backlog', next: ['queue'] },
    { name: 'queue', kind: 'initial', next: ['bench'] },
    { name: 'bench', kind: 'active', role: 'builder', next: ['court', 'queue'] },
    {
      name: 'court',
      kind: 'gate',
      role: 'judge',
      next: ['out', 'bench'],
      gate_config: { max_rejections: 1 },
    },
    { name: 'stuck', kind: 'custom', next: ['queue', 'bench'] },
    { name: 'out', kind: 'terminal' },
    { name: 'bin', kind: 'terminal' },
  ],
  cancellation_state: 'bin',
  blocked_state: 'stuck',
  status_states: { in_progress: 'bench', closed: 'out' },
};

describe('moves along the workflow', () => {
  it('[S168] [S349] a workflow of the project takes effect at once and travels with git', async () => {
    await using project = await forgeProjectHere();
    writeFileSync(join(project.path, 'flow.json'), JSON.stringify(FLOW));
    await project.text('workflow', 'set', 'flow.json');
    const task = await project.create('Shape it');
    expect(task.state).toBe('queue');
    const parked = await project.create('Later', '--state', 'shelf');
    expect((await project.json<Task[]>('ready')).map(({ id }) => id)).toEqual([task.id]);
    expect((await project.fails('task', 'create', 'Nowhere', '--state', 'todo')).error).toMatchObject({
      code: 'invalid_input',
      details: { known: ['queue', 'shelf'] },
    });
    const bot = project.with(BOT);
    expect(await bot.json('claim', task.id)).toMatchObject({ state: 'bench', status: 'in_progress' });
    expect(await bot.json('task', 'transition', task.id, 'court')).toMatchObject({ state: 'court' });
    expect(await bot.json('task', 'transition', task.id, 'bench')).toMatchObject({ state: 'bench' });
    await bot.json('task', 'transition', task.id, 'court');
    // The second no is one too many.
    expect(await bot.json('task', 'transition', task.id, 'bench')).toMatchObject({ state: 'stuck' });
    const view = await project.json<TaskView>('task', 'show', task.id);
    expect(view).toMatchObject({
      error_annotation: { code: 'retry_budget' },
      recovery_actions: [
        { action: 'transition', state: 'queue' },
        { action: 'transition', state: 'bench' },
        { action: 'transition', state: 'bin' },
      ],
    });
    expect(await project.text('task', 'show', task.id)).toContain('Waits');
    expect(await project.json('task', 'cancel', task.id, '--reason', 'no use')).toMatchObject({
      state: 'bin',
      status: 'closed',
      close_reason: 'no use',
    });
    expect(await project.json('task', 'reopen', task.id)).toMatchObject({ state: 'queue' });
    expect(await project.json('task', 'transition', parked.id, 'queue')).toMatchObject({ state: 'queue' });
    const moves = await project.json<Transition[]>('task', 'transitions', task.id);
    expect(moves.map(({ to_state, rejection }) => (rejection ? `${to_state}!` : to_state))).toEqual([
      'bench',
      'court',
      'bench!',
      'court',
      'stuck!',
      'bin',
      'queue',
    ]);
    // The log is rebuilt with the database, budgets with it.
    await project.exec('rm', [
      '-f',
      '.git/forge/forge.db',
      '.git/forge/forge.db-wal',
      '.git/forge/forge.db-shm',
    ]);
    const again = await project.program.run('task', 'transitions', task.id, '--json');
    expect((JSON.parse(again.stdout) as Transition[]).map(({ to_state }) => to_state)).toEqual(
      moves.map(({ to_state }) => to_state),
    );
  });

  it('[S388] [S389] an archived task is in no list, and back again', async () => {
    await using project = await forgeProjectHere();
    const { id } = await project.create('Old');
    expect(await project.json('task', 'archive', id)).toMatchObject({
      archived_at: expect.any(String) as string,
    });
    expect(await project.json<Task[]>('task', 'list')).toEqual([]);
    expect(await project.json<Task[]>('ready')).toEqual([]);
    expect(await project.json<Task[]>('search', '--query', 'Old')).toEqual([]);
    expect(await project.json<Task[]>('task', 'list', '--include-archived')).toMatchObject([{ id }]);
    expect((await project.fails('claim', id)).error).toMatchObject({ code: 'state_invalid' });
    await project.text('task', 'unarchive', id);
    expect(await project.json<Task[]>('ready')).toMatchObject([{ id }]);
  });

  it('[S359] [S360] pauses of agents and of the project', async () => {
    await using project = await forgeProjectHere();
    const { id } = await project.create('Wanted');
    await project.text('agent', 'add', 'bot');
    expect(await project.json('agent', 'pause', 'bot')).toMatchObject({
      paused_at: expect.any(String) as string,
    });
    expect((await project.with(BOT).fails('claim', id)).error.code).toBe('agent_paused');
    expect(await project.json('agent', 'resume', 'bot')).toMatchObject({ paused_at: null });
    await project.text('project', 'pause');
    expect((await project.with(BOT).fails('claim', '--next')).error.code).toBe('project_paused');
    expect(await project.with(ANN).json('claim', id)).toMatchObject({ assignee: 'ann' });
    await project.text('project', 'resume');
    expect((await project.fails('agent', 'show', 'nobody')).error.code).toBe('not_found');
  });

  it('leases: a heartbeat with the number of the claim, and none without', async () => {
    await using project = await forgeProjectHere();
    const { id } = await project.create('Leased');
    const bot = project.with(BOT);
    const { fence } = await bot.json<Task & { fence: number }>('claim', id, '--lease', '60');
    expect(await bot.json('task', 'heartbeat', id, '--fence', String(fence))).toMatchObject({ id });
    expect((await bot.fails('task', 'heartbeat', id, '--fence', String(fence + 1))).error.code).toBe(
      'fence_conflict',
    );
    expect((await bot.fails('claim', id, '--lease', '0')).error.code).toBe('invalid_input');
  });

  it('[S192] [S193] [S387] roles by hand', async () => {
    await using project = await forgeProjectHere();
    const { id } = await project.create('Roles');
    expect(await project.with(ANN).json('task', 'assign', id, 'reviewer', '--user', 'ann')).toMatchObject({
      roles: { reviewer: { user: 'ann' } },
    });
    await project.with(BOT).json('claim', id);
    expect(await project.json('task', 'roles', id)).toEqual([
      { role: 'planner', holder: null, from: null },
      { role: 'coder', holder: { agent: 'bot' }, from: 'claim' },
      { role: 'reviewer', holder: { user: 'ann' }, from: 'assigned' },
    ]);
    const refused = await project.with(BOT).fails('task', 'assign', id, 'coder', '--agent', 'bot');
    expect(refused.error.code).toBe('permission_denied');
    expect(
      await project.json('task', 'update', id, '--ci-step', 'npm test', '--ci-step', 'npm run lint'),
    ).toMatchObject({ review_config: { ci_steps: ['npm test', 'npm run lint'] } });
    const prompted = await project.json('task', 'update', id, '--review-prompt', 'Look twice');
    expect(prompted).toMatchObject({
      review_config: { ci_steps: ['npm test', 'npm run lint'], review_prompt: 'Look twice' },
    });
    const freed = await project.json('task', 'update', id, '--ci-step', 'none');
    expect(freed).toMatchObject({ review_config: { review_prompt: 'Look twice' } });
    expect(freed).not.toHaveProperty('review_config.ci_steps');
    expect((await project.fails('task', 'update', id, '--ci-step', ' ')).error).toMatchObject({
      code: 'invalid_input',
      message: '--ci-step " ": a step is a command: not blank, without a NUL character',
    });
  });

  it('the feed tells it, and nothing of what was refused', async () => {
    await using project = await forgeProjectHere();
    const { id } = await project.create('Fed');
    await project.with(BOT).json('claim', id);
    expect((await project.with(BOT).fails('task', 'transition', id, 'merging')).error).toMatchObject({
      code: 'state_invalid',
    });
    const events = await project.json<{ seq: number; type: string }[]>('events', '--task', id);
    expect(events.map(({ type }) => type)).toEqual(['task.created', 'task.claimed', 'task.status_changed']);
    const [first] = events;
    expect(await project.json<unknown[]>('events', '--after', String(first?.seq ?? 0))).toHaveLength(2);
    expect(await project.json<unknown[]>('events', '--type', 'task.closed')).toEqual([]);
  });
});
