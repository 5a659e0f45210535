import { expect, it } from 'vitest';
import { describeLife } from './describe-life.ts';

const LIFE = { status: 'open', state: 'todo', assignee: null, close_reason: null, closed_at: null };

it.each([
  [LIFE, 'open'],
  [{ ...LIFE, status: 'in_progress', state: 'in_progress', assignee: 'ann' }, 'in progress, owned by ann'],
  [{ ...LIFE, status: 'in_progress', state: 'review' }, 'in progress, in the state review'],
  [{ ...LIFE, status: 'closed', state: 'done', close_reason: 'Shipped' }, 'closed (Shipped)'],
  [
    { ...LIFE, status: 'closed', state: 'cancelled', assignee: 'bob' },
    'closed, in the state cancelled, owned by bob',
  ],
  ['a text', undefined],
  [null, undefined],
  [[LIFE], undefined],
])('[D15] %j in plain words', (life, words) => {
  expect(describeLife(life)).toBe(words);
});
