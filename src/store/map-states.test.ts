import { expect, it } from 'vitest';
import type { Workflow } from '#contract/workflow.ts';
import { tempStore } from '../../tests/support/temp-store.ts';
import { by, create } from './behaviour/open-behaviour.ts';

const SMALL: Workflow = {
  states: [
    { name: 'queue', kind: 'initial', next: ['shipped'] },
    { name: 'shipped', kind: 'terminal' },
    { name: 'cancelled', kind: 'terminal' },
  ],
};

it('states that were mapped survive a database that is gone', async () => {
  await using temp = await tempStore();
  const { id } = await create(temp, 'Open');
  const person = by(temp, 'nina', 'user');
  await temp.store.setWorkflow({ definition: SMALL, digest: 'small' }, person);
  await temp.store.mapStates(new Map([['todo', 'queue']]), person);
  await temp.rebuild();
  await temp.store.setWorkflow({ definition: SMALL, digest: 'small' }, person);
  expect(await temp.store.getTask(id)).toMatchObject({ state: 'queue', status: 'open', version: 2 });
  expect((await temp.store.listTransitions({ id, limit: undefined })).at(-1)).toMatchObject({
    from_state: 'todo',
    to_state: 'queue',
    trigger_reason: 'the workflow has no state todo any more; it was mapped to queue',
  });
});
