import { expect, it } from 'vitest';
import { decideKeptWorktrees, type KeptWorktreeFacts } from './decide-kept-worktrees.ts';

const at = (id: string, over_at: string, more: Partial<KeptWorktreeFacts> = {}): KeptWorktreeFacts => ({
  id,
  state: 'archived',
  busy: false,
  over_at,
  ...more,
});

it.each<[string, KeptWorktreeFacts[], number, string[], number]>([
  ['none', [], 0, [], 0],
  ['the oldest first', [at('b', '2'), at('a', '1'), at('c', '2')], 1, ['a', 'b', 'c'], 2],
  ['merged ones', [at('a', '1', { state: 'merged' })], 0, ['a'], 1],
  ['not those of unfinished attempts', [at('a', '1', { state: 'active' }), at('b', '2')], 1, ['b'], 0],
  ['not those that somebody works on', [at('a', '1', { busy: true }), at('b', '2')], 1, ['b'], 1],
  ['no more than are free', [at('a', '1', { busy: true }), at('b', '2')], 0, ['b'], 1],
  ['as many as there may be', [at('a', '1'), at('b', '2')], 2, ['a', 'b'], 0],
])('%s', (_name, all, number, free, too_many) => {
  const decided = decideKeptWorktrees(all, { number });
  expect({ free: decided.free.map(({ id }) => id), too_many: decided.too_many }).toEqual({ free, too_many });
});
