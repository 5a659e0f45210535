import { describe, expect, it } from 'vitest';
import type { Task } from '#contract/task.ts';
import { ANN, BOT, tempEngine, type TempEngine } from '../../tests/support/temp-engine.ts';
import { ACTIONS, type ActionCall } from './actions.ts';
import { claimTask } from './change-task.ts';
import type { Engine } from './engine.ts';
import type { Work } from './work.ts';

/** An engine with somewhere to work, of which only what is given is asked. */
const withWork = (engine: TempEngine, work: Partial<Work>): Engine => ({
  ...engine.as(ANN),
  follows: true,
  work: async () => work as Work, // likewise
});

async function call(
  temp: TempEngine,
  engine: Engine,
  { id, to, owner }: { readonly id: string; readonly to: string; readonly owner?: string },
): Promise<ActionCall> {
  const standing = await temp.temp.store.readStanding(id);
  return {
    engine,
    hook: { action: 'cascade', to: 'merging' },
    phase: 'after_enter',
    standing,
    from: 'todo',
    to,
    owner,
  };
}

describe('a guard that wants a role to be held', () => {
  it.each<[string, Partial<Task>, string, string]>([
    [
      'the role has a holder, and the task no owner',
      { roles: { reviewer: { user: 'ann' } } },
      'review',
      'passed',
    ],
    ['the role is free, and so is the task', {}, 'review', 'failed'],
    ['the owner has another role', { state: 'in_progress', assignee: 'bot' }, 'review', 'failed'],
    ['the owner works in that role', { state: 'in_progress', assignee: 'bot' }, 'in_progress', 'passed'],
    ['the owner has no other role yet', { state: 'todo', assignee: 'bot' }, 'in_progress', 'passed'],
    ['the state has no role', { state: 'in_progress' }, 'done', 'passed'],
  ])('%s', async (_, more, to, outcome) => {
    await using temp = await tempEngine();
    const task = await temp.create('Guarded');
    const asked = await call(temp, temp.as(ANN), { id: task.id, to });
    const standing = { ...asked.standing, task: { ...task, ...more } };
    expect(await ACTIONS.require_role.run?.({ ...asked, standing })).toMatchObject({ outcome });
  });
});

describe('an agent is started by a move', () => {
  const applies = async (owner: string, more: Partial<Engine> = {}): Promise<unknown> => {
    await using temp = await tempEngine();
    temp.managed.add('bot');
    const { id } = await temp.create('Moved');
    const engine = { ...withWork(temp, {}), ...more };
    return await ACTIONS.dispatch_role_agent.applies?.(
      await call(temp, engine, { id, to: 'in_progress', owner }),
    );
  };

  it('where Forge starts it, and the process stays to watch', async () => {
    expect(await applies('bot')).toBe(true);
    expect(await applies('ann')).toBe(false);
    expect(await applies('bot', { follows: false })).toBe(false);
  });

  it.each([
    ['bot', 'bot', ['bot']],
    [undefined, 'bot', ['bot']],
    ['bot', 'bob', []],
  ])('for the owner %s, unless another was faster: now it is %s', async (owner, now, started) => {
    await using temp = await tempEngine();
    for (const name of ['bot', 'bob']) temp.managed.add(name);
    const { id } = await temp.create('Raced');
    await claimTask(temp.as({ ...BOT, name: now }), { id, assignee: now, force: false });
    const seen: string[] = [];
    const engine = withWork(temp, {
      dispatch: async (_engine, { agent }) => {
        seen.push(agent);
        return { outcome: 'passed' };
      },
    });
    const asked = await call(temp, engine, { id, to: 'in_progress', ...(owner && { owner }) });
    const ended = await ACTIONS.dispatch_role_agent.run?.(asked);
    expect(seen).toEqual(started);
    expect(ended).toMatchObject({ outcome: started.length === 0 ? 'failed' : 'passed' });
  });
});

it('a review that has passed leads nowhere by itself where no attempt was made', async () => {
  await using temp = await tempEngine();
  const { id } = await temp.create('By hand');
  const by = { actor: ANN, now: temp.temp.clock.now() };
  const workflow_fields = new Map([['review_passed_at', '2026-01-01T00:00:00.000Z']]);
  await temp.temp.store.updateTask({ id, workflow_fields }, by);
  expect((await temp.temp.store.getTask(id)).review_passed_at).toBeDefined();
  const asked = await call(temp, withWork(temp, { merges_by_itself: true }), { id, to: 'review' });
  expect(await ACTIONS.cascade_on_review.applies?.(asked)).toBe(false);
});
