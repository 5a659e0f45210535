import { expect, it } from 'vitest';
import { areLinked, type LoggedMove } from './linked-moves.ts';

const move = (at: number, from: string, to: string): LoggedMove => ({ at, from, to });

it.for([
  ['begins where the other ended', [move(1, 'todo', 'backlog'), move(2, 'backlog', 'todo')], true],
  ['begins elsewhere', [move(1, 'todo', 'backlog'), move(2, 'todo', 'blocked')], false],
  [
    'follows by way of others, in any order of the log',
    [move(3, 'doing', 'blocked'), move(2, 'backlog', 'doing'), move(1, 'todo', 'backlog')],
    true,
  ],
  [
    'follows it past a move of another branch',
    [move(1, 'todo', 'backlog'), move(2, 'todo', 'doing'), move(3, 'backlog', 'blocked')],
    true,
  ],
  [
    'follows only a move of another branch',
    [move(1, 'todo', 'backlog'), move(2, 'todo', 'doing'), move(3, 'doing', 'blocked')],
    false,
  ],
  ['stands alone in the log', [move(3, 'doing', 'blocked')], undefined],
  ['is not in the log', [move(1, 'todo', 'backlog'), move(2, 'backlog', 'todo')], undefined],
] as const)('a move %s', ([, moves, linked]) => {
  const last = linked === undefined ? 3 : Math.max(...moves.map(({ at }) => at));
  expect(areLinked(moves, { first: 1, last })).toBe(linked);
});
