import { expect, it } from 'vitest';
import { ForgeError } from '#kernel/errors.ts';
import { ANN, tempEngine } from '../../tests/support/temp-engine.ts';
import { findRunLoss, findStanding, ignoreGone } from './find-standing.ts';

it('a task that was deleted stands nowhere, and its run has lost it', async () => {
  await using temp = await tempEngine();
  const { store } = temp.temp;
  const { id, state } = await temp.create('Gone');
  const run = { task_id: id, fence: null, in_state: state };
  expect(await findStanding(store, id)).toMatchObject({ task: { id } });
  expect(await findRunLoss(store, run)).toBeUndefined();
  expect(await findRunLoss(store, { ...run, in_state: 'review' })).toMatchObject({ code: 'moved' });
  await store.deleteTask({ id }, temp.as(ANN).by);
  expect(await findStanding(store, id)).toBeUndefined();
  expect(await findRunLoss(store, run)).toEqual({ code: 'deleted', message: `${id} was deleted` });
});

it.each([new Error('a bug'), new ForgeError('store_busy', 'not now')])(
  'what keeps the store from answering says nothing about the task: %s',
  async (error) => {
    const store = { readStanding: () => Promise.reject(error) };
    await expect(findStanding(store, 'fg-1')).rejects.toBe(error);
    await expect(findRunLoss(store, { task_id: 'fg-1', fence: 1, in_state: null })).rejects.toBe(error);
    expect(() => ignoreGone(error)).toThrow(error);
  },
);
