import { expect, test } from 'vitest';
import { decideRequest } from './decide-request.ts';

const begun = { digest: 'd', began_at: 7, answer: undefined };
const done = { ...begun, answer: 'said' };

test.each([
  ['a key that nobody used', undefined, 'd', { outcome: 'new' }],
  ['the same request at work', begun, 'd', { outcome: 'pending', began_at: 7 }],
  ['another request at work', begun, 'e', { outcome: 'conflict' }],
  ['the same request, answered', done, 'd', { outcome: 'done', answer: 'said' }],
  ['another request, answered', done, 'e', { outcome: 'conflict' }],
])('%s', (_, known, digest, decision) => {
  expect(decideRequest(known, digest)).toEqual(decision);
});
