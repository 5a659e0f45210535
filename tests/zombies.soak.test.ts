import { expect, it } from 'vitest';
import { expectZombieRefused } from './support/zombies.ts';

it('[G18] 1,000 writes of a holder that lost its task, on six surfaces: none is accepted', async () => {
  expect(await expectZombieRefused({ writes: 170 })).toBeGreaterThan(1_000);
}, 900_000);
