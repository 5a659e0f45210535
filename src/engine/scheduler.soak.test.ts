import { it } from 'vitest';
import { expectSettledOnce } from '../../tests/support/killed-watcher.ts';
import { tempWorkshop } from '../../tests/support/temp-workshop.ts';

it('fifty at work when their watcher is killed are ended, and settled once each', async () => {
  await using shop = await tempWorkshop();
  await expectSettledOnce(shop, 50);
});
