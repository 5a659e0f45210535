import { expect, test } from 'vitest';
import { TASK_ORDERS, type OrderedTask } from './task-order.ts';

const at: OrderedTask = {
  id: 'fg-5',
  priority: 2,
  created_at: '2026-01-05',
  updated_at: '2026-02-05',
  critical_path: 5,
  unblocks: 5,
};

/** Each is before `at` by one value alone, where everything that counts less says the contrary. */
const later = { id: 'fg-9', created_at: '2026-01-09', priority: 4, unblocks: 1 };
test.each<[keyof typeof TASK_ORDERS, Partial<OrderedTask>]>([
  ['priority', { ...later, priority: 1 }],
  ['priority', { ...later, priority: 2, created_at: '2026-01-04' }],
  ['priority', { id: 'fg-4' }],
  ['created', { ...later, created_at: '2026-01-04' }],
  ['created', { priority: 4, id: 'fg-4' }],
  ['updated', { ...later, updated_at: '2026-02-06' }],
  ['updated', { priority: 4, id: 'fg-4' }],
  ['id', { ...later, id: 'fg-4' }],
  ['impact', { ...later, critical_path: 6 }],
  ['impact', { ...later, unblocks: 6 }],
  ['impact', { ...later, unblocks: 5, priority: 1 }],
  ['impact', { id: 'fg-4' }],
])('by %s, %o comes first', (order, more) => {
  const compare = TASK_ORDERS[order];
  expect(compare({ ...at, ...more }, at)).toBeLessThan(0);
  expect(compare(at, { ...at, ...more })).toBeGreaterThan(0);
  expect(compare(at, { ...at })).toBe(0);
});
