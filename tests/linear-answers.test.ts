import { NO_AGENTS } from '#domain/claimer.ts';
import { describe, expect, it } from 'vitest';
import { DEFAULT_WORKFLOW } from '#domain/default-workflow.ts';
import { claimNext, claimTask, closeTask } from '#engine/change-task.ts';
import type { Engine } from '#engine/engine.ts';
import { transitionTask } from '#engine/transition-task.ts';
import type { TaskStore } from '#store/store.ts';
import { ANN, BOT, tempEngine, type TempEngine } from './support/temp-engine.ts';

/** Faults that histories of claims showed, or that showed while their model was written, each in the few steps it takes. */

const LEASE_MS = 60_000;

describe('an answer is about what the caller did, also where somebody else is quick', () => {
  it('a claim that is taken over at once', async () => {
    await using temp = await tempEngine();
    const { id } = await temp.create('Wanted');
    const engine = withRival(temp, 'claimTask', () => takeOver(temp, id));
    const claim = await claimTask(engine, { id, assignee: BOT.name, force: false });
    expect(claim).toMatchObject({ outcome: 'claimed', fence: 1, task: { assignee: 'bot', version: 2 } });
    expect(await temp.temp.store.getTask(id)).toMatchObject({ assignee: 'ann', version: 3 });
  });

  it('the next task, taken over at once', async () => {
    await using temp = await tempEngine();
    const { id } = await temp.create('Wanted');
    const engine = withRival(temp, 'claimNext', () => takeOver(temp, id));
    const claim = await claimNext(engine, { assignee: BOT.name });
    expect(claim).toMatchObject({ id, fence: 1, assignee: 'bot', version: 2 });
  });

  it('a move, and a close that is taken back at once', async () => {
    await using temp = await tempEngine();
    const { id } = await temp.create('Moved');
    const moving = withRival(temp, 'moveTask', () => takeOver(temp, id));
    expect(await transitionTask(moving, { id, to: 'in_progress', reason: null })).toMatchObject({
      assignee: 'bot',
      version: 2,
    });
    const closing = withRival(temp, 'closeTask', async () => {
      await temp.temp.store.reopenTask({ id, reason: null }, temp.as(ANN).by);
    });
    // It is ann's by now.
    const anns = { ...closing, by: temp.as(ANN).by };
    expect(await closeTask(anns, { id, reason: 'finished' })).toMatchObject({
      status: 'closed',
      version: 4,
    });
  });
});

it('a claim that is lost runs no hooks: they were those of the winner', async () => {
  const states = DEFAULT_WORKFLOW.states.map((state) =>
    state.name === 'in_progress'
      ? {
          ...state,
          next: ['review', 'todo', 'planning'],
          after_enter: [{ action: 'cascade', to: 'planning' }],
        }
      : state,
  );
  await using temp = await tempEngine({ ...DEFAULT_WORKFLOW, states });
  const { id } = await temp.create('Wanted');
  const { store } = temp.temp;
  const engine: Engine = {
    ...temp.as(BOT),
    store: {
      ...store,
      // Somebody claims it between the look and the claim, and has not come to the hooks yet.
      async claimTask(claim, by) {
        await store.claimTask({ ...claim, assignee: ANN.name }, temp.as(ANN).by);
        return store.claimTask(claim, by);
      },
    },
  };
  const claim = await claimTask(engine, { id, assignee: BOT.name, force: false });
  expect(claim).toMatchObject({ outcome: 'taken', owner: 'ann' });
  expect(await temp.states(id)).toEqual(['in_progress by user:ann']);
});

it('the next task is none that is kept for somebody else, but the one behind it', async () => {
  await using temp = await tempEngine();
  const kept = await temp.create('Kept');
  const free = await temp.create('Free');
  const role = new Map([['role:coder', { agent: 'critic' }]]);
  await temp.temp.store.updateTask({ id: kept.id, workflow_fields: role }, temp.as(ANN).by);
  expect(await claimNext(temp.as(BOT), { assignee: 'bot' })).toMatchObject({ id: free.id });
  expect(await claimNext(temp.as(BOT), { assignee: 'bot' })).toBeUndefined();
  expect(await claimNext(temp.as(BOT), { assignee: 'critic' })).toMatchObject({ id: kept.id });
});

it('whoever moves a task that nobody has to work becomes its owner, also from where it was blocked', async () => {
  await using temp = await tempEngine();
  const { id } = await temp.create('Blocked at once');
  await transitionTask(temp.as(ANN), { id, to: 'blocked', reason: 'no database' });
  expect(await temp.temp.store.getTask(id)).toMatchObject({ status: 'in_progress', assignee: null });
  const moved = await transitionTask(temp.as(BOT), { id, to: 'in_progress', reason: null });
  expect(moved).toMatchObject({ state: 'in_progress', assignee: 'bot' });
});

it('an agent begins no work by a move whose role is another agent’s, unless it had the task itself', async () => {
  await using temp = await tempEngine();
  const { id } = await temp.create('Kept');
  const role = new Map([['role:coder', { agent: 'critic' }]]);
  await temp.temp.store.updateTask({ id, workflow_fields: role }, temp.as(ANN).by);
  const begin = () => transitionTask(temp.as(BOT), { id, to: 'in_progress', reason: null });
  await expect(begin()).rejects.toMatchObject({ code: 'role_conflict', details: { holder: 'critic' } });
  // Neither where a third agent has it: the role is the reason, not the present owner.
  await claimTask(temp.as(ANN), { id, assignee: 'third', force: true });
  await transitionTask(temp.as(ANN), { id, to: 'blocked', reason: null });
  await expect(begin()).rejects.toMatchObject({ code: 'role_conflict', details: { holder: 'critic' } });
  await transitionTask(temp.as(ANN), { id, to: 'todo', reason: null });
  await transitionTask(temp.as(BOT), { id, to: 'planning', reason: null });
  expect(await begin()).toMatchObject({ state: 'in_progress', assignee: 'critic' });
});

it('a lease ends also where writers come a little out of order', async () => {
  await using temp = await tempEngine();
  const { store, clock } = temp.temp;
  const { id } = await temp.create('Left behind');
  const other = await temp.create('Kept alive');
  const third = await temp.create('Kept alive, too');
  const claim = (of: string, name: string, late = 0) =>
    store.claimTask(
      { id: of, assignee: name, force: false, lease_ms: LEASE_MS, agents: NO_AGENTS },
      { actor: { kind: 'agent', name, named: true }, now: clock.now() - late },
    );
  await claim(id, 'gone');
  await claim(other.id, 'busy');
  const outcomes: string[] = [];
  for (let beat = 0; beat < 20; beat += 1) {
    clock.advance(LEASE_MS / 6);
    await claim(other.id, 'busy');
    // These read the clock first and got the lock last.
    await claim(third.id, 'late', 2);
    outcomes.push((await claim(id, 'rival', 2)).outcome);
  }
  expect(outcomes.indexOf('claimed')).toBe(6);
  expect(outcomes.slice(0, 6)).toEqual(Array(6).fill('taken'));
});

/** A store on which somebody else acts right after this method, before the caller looks again. */
function withRival(temp: TempEngine, method: keyof TaskStore, act: () => Promise<void>): Engine {
  const engine = temp.as(BOT);
  const { store } = temp.temp;
  const called = store[method] as (...args: unknown[]) => Promise<unknown>; // every method of the port is one
  const quick = async (...args: unknown[]): Promise<unknown> => {
    const result = await called(...args);
    await act();
    return result;
  };
  return { ...engine, store: { ...store, [method]: quick } };
}

async function takeOver(temp: TempEngine, id: string): Promise<void> {
  await temp.temp.store.claimTask(
    { id, assignee: ANN.name, force: true, agents: NO_AGENTS },
    temp.as(ANN).by,
  );
}
