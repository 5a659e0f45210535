import { expect, test } from 'vitest';
import { summariseEvent, type ToldEvent } from './summarise-event.ts';

const edge = { id: 'fg-2', type: 'blocks' };

test.each<[string, Partial<ToldEvent>, string]>([
  ['task.created', { data: { task: { title: 'One' } } }, 'created: One'],
  ['task.created', { data: { task: { title: 'One' }, restored: true } }, 'restored'],
  ['task.claimed', { data: { task: { assignee: 'ann' } } }, 'claimed by ann'],
  [
    'task.claimed',
    { data: { task: { assignee: 'ann' }, forced: true }, reason: 'forced' },
    'claimed by ann, forced',
  ],
  ['task.claimed', { data: {} }, 'claimed by nobody'],
  ['task.commented', { data: { comment: { body: 'First\nsecond' } } }, 'comment: First'],
  ['dependency.added', { data: { dependency: edge } }, 'depends on fg-2 (blocks)'],
  [
    'dependency.removed',
    { data: { dependencies: [edge, { ...edge, type: 'related' }] } },
    'no longer depends on fg-2 (blocks), fg-2 (related)',
  ],
  ['task.updated', {}, 'updated'],
  ['task.updated', { data: { changed: ['title', 'labels'] } }, 'changed title, labels'],
  ['task.status_changed', { reason: 'because' }, 'status changed: because'],
  ['task.closed', { reason: 'done', data: { forced: true } }, 'closed: done, forced'],
  ['task.released', { reason: 'forced', data: { forced: true } }, 'released: forced'],
  ['task.deleted', {}, 'deleted'],
])('%s of %o', (type, more, line) => {
  expect(summariseEvent({ type, reason: null, data: {}, ...more })).toBe(line);
});
