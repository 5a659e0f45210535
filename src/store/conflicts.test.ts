import { expect, it } from 'vitest';
import { exportLines, fold, shareLines } from '../../tests/support/fold-lines.ts';
import { tempStore } from '../../tests/support/temp-store.ts';
import { by, create } from './behaviour/open-behaviour.ts';

it('a database tells how many tasks have a value that lost, and a rebuilt one the value that was taken back', async () => {
  await using here = await tempStore();
  await using there = await tempStore();
  const { id } = await create(here, 'Old');
  await fold(there, await shareLines(here));
  await here.store.updateTask({ id, title: 'Here' }, by(here));
  there.clock.advance(60_000);
  await there.store.updateTask({ id, title: 'There' }, by(there));
  await fold(here, await exportLines(there));
  expect((await here.store.diagnose(here.clock.now())).conflicts).toBe(1);
  await here.store.settleConflicts({ id, field: undefined, take_lost: true }, by(here));
  await here.rebuild();
  expect((await here.store.getTask(id)).title).toBe('Here');
  expect((await here.store.diagnose(here.clock.now())).conflicts).toBe(0);
});
