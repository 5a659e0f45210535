import { NO_AGENTS } from '#domain/claimer.ts';
import { expect, it } from 'vitest';
import type { Workflow } from '#contract/workflow.ts';
import { tempStore, type TempStore } from '../../tests/support/temp-store.ts';
import { by, create } from './behaviour/open-behaviour.ts';

const SMALL: Workflow = {
  states: [
    { name: 'queue', kind: 'initial', next: ['doing'] },
    { name: 'doing', kind: 'active', next: ['shipped'] },
    { name: 'shipped', kind: 'terminal' },
    { name: 'cancelled', kind: 'terminal' },
  ],
};
const useSmall = (temp: TempStore) =>
  temp.store.setWorkflow({ definition: SMALL, digest: 'small' }, by(temp, 'nina', 'user'));
const mapStates = async (temp: TempStore, map: Record<string, string>) => {
  const person = by(temp, 'nina', 'user');
  await useSmall(temp);
  return temp.store.mapStates(new Map(Object.entries(map)), person);
};

it('moves all tasks of the states, each with version, log and event, and survives a rebuild', async () => {
  await using temp = await tempStore();
  const open = await create(temp, 'Open');
  const worked = await create(temp, 'Worked');
  await temp.store.claimTask({ id: worked.id, assignee: 'bot', force: false, agents: NO_AGENTS }, by(temp));
  const closed = await create(temp, 'Closed');
  const { close_reason } = await temp.store.closeTask({ id: closed.id, reason: 'fixed' }, by(temp));
  await useSmall(temp);
  const before = await temp.store.newestEvent();
  expect(await mapStates(temp, { todo: 'queue', in_progress: 'doing', done: 'shipped' })).toEqual([
    { from: 'todo', to: 'queue', tasks: 1 },
    { from: 'in_progress', to: 'doing', tasks: 1 },
    { from: 'done', to: 'shipped', tasks: 1 },
  ]);
  expect(await temp.store.newestEvent()).toBe(before + 3);
  await temp.rebuild();
  await useSmall(temp);
  expect(await temp.store.getTask(open.id)).toMatchObject({ state: 'queue', status: 'open', version: 2 });
  expect(await temp.store.getTask(worked.id)).toMatchObject({ state: 'doing', assignee: 'bot' });
  expect(await temp.store.getTask(closed.id)).toMatchObject({
    state: 'shipped',
    status: 'closed',
    close_reason,
  });
  expect((await temp.store.listTransitions({ id: open.id, limit: undefined })).at(-1)).toMatchObject({
    from_state: 'todo',
    to_state: 'queue',
    trigger_reason: 'the workflow has no state todo any more; it was mapped to queue',
  });
  expect(await mapStates(temp, { todo: 'queue' })).toEqual([{ from: 'todo', to: 'queue', tasks: 0 }]);
});

it('work may go back to the queue, and is nobody’s then', async () => {
  await using temp = await tempStore();
  const { id } = await create(temp, 'Worked');
  const claimed = await temp.store.claimTask(
    { id, assignee: 'bot', force: false, agents: NO_AGENTS },
    by(temp),
  );
  const fence = claimed.outcome === 'claimed' ? claimed.fence : 0;
  await mapStates(temp, { in_progress: 'queue' });
  expect(await temp.store.getTask(id)).toMatchObject({ state: 'queue', status: 'open', assignee: null });
  await expect(temp.store.closeTask({ id, reason: 'late', fence }, by(temp))).rejects.toMatchObject({
    code: 'fence_conflict',
  });
});

it.each([
  [{ todo: 'doing' }, 'todo cannot become doing: '],
  [{ todo: 'shipped' }, 'todo cannot become shipped: '],
  [{ done: 'queue' }, 'done cannot become queue: '],
  [{ in_progress: 'shipped' }, 'in_progress cannot become shipped: '],
])('%j would decide more than where a task stands: none is moved', async (wrong, message) => {
  await using temp = await tempStore();
  const open = await create(temp, 'Open');
  const parked = await create(temp, 'Parked', { state: 'backlog' });
  const worked = await create(temp, 'Worked');
  await temp.store.claimTask({ id: worked.id, assignee: 'bot', force: false, agents: NO_AGENTS }, by(temp));
  const closed = await create(temp, 'Closed');
  await temp.store.closeTask({ id: closed.id, reason: 'done' }, by(temp));
  await expect(mapStates(temp, { backlog: 'queue', ...wrong })).rejects.toMatchObject({
    code: 'state_invalid',
    message: expect.stringContaining(message) as string,
  });
  for (const { id } of [open, parked, worked, closed]) {
    const moves = await temp.store.listTransitions({ id, limit: undefined });
    expect(moves.filter(({ trigger_reason }) => trigger_reason?.includes('was mapped') === true)).toEqual([]);
  }
});
