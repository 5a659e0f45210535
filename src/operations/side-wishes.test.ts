import { expect, it } from 'vitest';
import { ANN, tempEngine } from '../../tests/support/temp-engine.ts';
import { readSideWishes } from './side-wishes.ts';

it('several agents make an attempt each, unless it is said how many', async () => {
  await using temp = await tempEngine();
  const engine = temp.as(ANN);
  const read = (agents: readonly string[], count?: number) => readSideWishes(engine, { agents, count });
  expect(await read(['a'])).toEqual({ agent: 'a', attempts: undefined });
  expect(await read(['a', 'b'])).toMatchObject({ agent: 'a', attempts: { agents: ['a', 'b'], count: 2 } });
  expect(await read(['a', 'b'], 3)).toMatchObject({ attempts: { agents: ['a', 'b'], count: 3 } });
  await expect(read(['a', 'b'], 1)).rejects.toThrow('2 agents need as many attempts, not 1');
  await expect(read([])).rejects.toThrow('Nobody is named who works on it');
});
