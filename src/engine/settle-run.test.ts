import { describe, expect, it } from 'vitest';
import type { Run } from '#contract/attempt.ts';
import { ForgeError } from '#kernel/errors.ts';
import { ANN, tempEngine, type TempEngine } from '../../tests/support/temp-engine.ts';
import { claimTask } from './change-task.ts';
import type { Engine } from './engine.ts';
import { asCutOff, moveAfterWork, moveOrBlock, type Conclusion } from './settle-run.ts';
import { transitionTask } from './transition-task.ts';

describe('a move that cannot be made', () => {
  it.each<[string, Error, string]>([
    ['a fault of the program', new Error('a bug'), 'review'],
    ['a task that belongs to another', new ForgeError('fence_conflict', 'not yours'), 'review'],
    ['the blocked state itself', new ForgeError('guard_rejected', 'no'), 'blocked'],
  ])('is told, and not tried in another way: %s', async (_, error, to) => {
    await using temp = await tempEngine();
    const { id } = await temp.create('Moved');
    let tries = 0;
    const engine = temp.as(ANN);
    const readStanding = async (): Promise<never> => {
      tries += 1;
      throw error;
    };
    const store = { ...engine.store, readStanding };
    await expect(moveOrBlock({ ...engine, store }, id, { to, reason: 'done' })).rejects.toBe(error);
    expect(tries).toBe(1);
  });

  it('brings the task where a person sees it', async () => {
    await using temp = await tempEngine();
    const { id } = await temp.create('Moved');
    const moved = await moveOrBlock(temp.as(ANN), id, { to: 'merging', reason: 'done' });
    expect(moved).toMatchObject({ state: 'blocked', error_annotation: { code: 'state_invalid' } });
  });
});

describe('a run that Forge itself cut off', () => {
  const concluded = (outcome: Conclusion['outcome']): Conclusion => ({
    outcome,
    message: 'said',
    retry_after: null,
  });
  const stays = { signal: new AbortController().signal };
  const ends = { signal: AbortSignal.abort() };

  it('was not stopped by anybody: it is taken up again', () => {
    expect(asCutOff(ends, concluded('stopped'))).toEqual({
      ...concluded('crashed'),
      message: 'Forge was stopped',
    });
  });

  it('is only one that was stopped, by a Forge that ends', () => {
    expect(asCutOff(stays, concluded('stopped'))).toEqual(concluded('stopped'));
    for (const outcome of ['completed', 'failed', 'cap_reached'] as const)
      expect(asCutOff(ends, concluded(outcome))).toEqual(concluded(outcome));
  });
});

describe('where a task goes after a run', () => {
  const failed: Conclusion = { outcome: 'failed', message: 'no', retry_after: null };
  const failures = { count: 0, limit: 3 };

  async function worked(temp: TempEngine) {
    const { id } = await temp.create('Worked');
    const engine = temp.as(ANN);
    await claimTask(engine, { id, assignee: 'bot', force: false });
    const { task, fence } = await engine.store.readStanding(id);
    const run = { task_id: id, fence, in_state: task.state, role: 'coder', agent: 'bot' } as Run; // all that is looked at
    return { engine, task, run };
  }

  it('is what others decided, where they did in that very moment', async () => {
    await using temp = await tempEngine();
    const { engine, task, run } = await worked(temp);
    let isLate = false;
    const store: Engine['store'] = {
      ...engine.store,
      async moveTask(...args) {
        if (!isLate) {
          isLate = true;
          await transitionTask(engine, { id: task.id, to: 'blocked', reason: null });
        }
        return engine.store.moveTask(...args);
      },
    };
    const moved = await moveAfterWork({ ...engine, store }, { task, run }, failed, failures);
    expect(isLate).toBe(true);
    expect(moved).toMatchObject({ id: task.id, state: 'blocked' });
    expect(await temp.states(task.id)).toEqual(['in_progress by user:ann', 'blocked by user:ann']);
  });

  it('is decided by a run of an older Forge too, which does not know what it had the task by', async () => {
    await using temp = await tempEngine();
    const { engine, task, run } = await worked(temp);
    const old = { ...run, fence: null, in_state: null };
    expect(await moveAfterWork(engine, { task, run: old }, failed, failures)).toMatchObject({
      state: 'todo',
    });
  });

  it('is not known where it cannot be written, and that is told', async () => {
    await using temp = await tempEngine();
    const { engine, task, run } = await worked(temp);
    const fault = new Error('a bug');
    const store: Engine['store'] = { ...engine.store, moveTask: () => Promise.reject(fault) };
    await expect(moveAfterWork({ ...engine, store }, { task, run }, failed, failures)).rejects.toBe(fault);
  });

  it('is the queue, with why, while the run has it; and where it is, as soon as the run has lost it', async () => {
    await using temp = await tempEngine();
    const { engine, task, run } = await worked(temp);
    const lost = { task, run: { ...run, fence: (run.fence ?? 0) + 1 } };
    expect(await moveAfterWork(engine, lost, failed, failures)).toBe(task);
    expect(await moveAfterWork(engine, { task, run }, failed, failures)).toMatchObject({
      state: 'todo',
      error_annotation: { code: 'run_failed', message: 'no' },
    });
  });

  it('is the blocked state after the last try', async () => {
    await using temp = await tempEngine();
    const { engine, task, run } = await worked(temp);
    const spent = { count: 3, limit: 3 };
    expect(await moveAfterWork(engine, { task, run }, failed, spent)).toMatchObject({
      state: 'blocked',
      error_annotation: { code: 'retry_budget', message: '3 tries in a row failed; the last: no' },
    });
  });
});
