import { expect, it } from 'vitest';
import { tempWorkshop } from '../../tests/support/temp-workshop.ts';
import { findWatch } from './find-watch.ts';

it('a process that stands by a task is named as the one that watches it', async () => {
  await using shop = await tempWorkshop();
  const { id } = await shop.create('Watched');
  expect(await findWatch(shop.place, id)).toBeUndefined();
  const watch = await shop.workshop.standBy(id, () => findWatch(shop.place, id));
  expect(watch).toMatchObject({ is_others: false, watcher: shop.place.watcher });
});
