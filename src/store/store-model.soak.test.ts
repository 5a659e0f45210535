import fc from 'fast-check';
import { it } from 'vitest';
import { storeEqualsModel } from './behaviour/model-run-behaviour.ts';

it('store and model stay equal through 2,500 sequences of writes and crashes', async () => {
  await fc.assert(storeEqualsModel({}), { numRuns: 2_500 });
});
