import { expect, it } from 'vitest';
import { readSideWishes } from './side-wishes.ts';

it('several agents make an attempt each, unless it is said how many', () => {
  const read = (agents: readonly string[], count?: number) => readSideWishes({ agents, count });
  expect(read(['a'])).toEqual({ agent: 'a', attempts: undefined });
  expect(read(['a', 'b'])).toMatchObject({ agent: 'a', attempts: { agents: ['a', 'b'], count: 2 } });
  expect(read(['a', 'b'], 3)).toMatchObject({ attempts: { agents: ['a', 'b'], count: 3 } });
  expect(() => read(['a', 'b'], 1)).toThrow('2 agents need as many attempts, not 1');
  expect(() => read([])).toThrow('Nobody is named who works on it');
});
