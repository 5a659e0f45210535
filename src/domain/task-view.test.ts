import { expect, it } from 'vitest';
import { newRecord } from './task-changes.ts';
import { toTask } from './to-task.ts';
import { toTaskView, type TaskSurroundings } from './task-view.ts';

const task = (type: string) => {
  const record = { id: 'fg-1', created_by: 'ann', state: 'todo', assignee: null, fields: { type } };
  const metadata = new Map([['own', 1]]);
  return toTask(newRecord({ ...record, labels: [], dependencies: [], metadata }, 1_000), 1);
};
const alone: TaskSurroundings = {
  dependencies: [],
  dependents: [],
  dependent_count: 0,
  subtasks: [],
  child_count: 0,
  closed_child_count: 0,
  comments: [],
  open_blockers: 0,
  parked: false,
  counters: { attempts: 0, reviews: 0, rejections: 0 },
};

it('counts the children of an epic where older exports have them, and of no other task', () => {
  const counts = { child_count: 3, closed_child_count: 2 };
  expect(toTaskView(task('epic'), { ...alone, ...counts }).metadata).toEqual({ own: 1, ...counts });
  expect(toTaskView(task('task'), { ...alone, ...counts }).metadata).toEqual({ own: 1 });
});

it('says how many neighbours are not shown', () => {
  const view = toTaskView(task('task'), { ...alone, dependent_count: 1, child_count: 1 });
  expect(view).toMatchObject({ dependents_more: 1, subtasks_more: 1 });
  expect(Object.keys(toTaskView(task('task'), alone))).not.toContain('dependents_more');
  expect(Object.keys(toTaskView(task('task'), alone))).not.toContain('subtasks_more');
});

it.each([
  ['alone', {}, true],
  ['waiting', { open_blockers: 1 }, false],
  ['parked', { parked: true }, false],
])('%s it is ready or not', (_, around, ready) => {
  expect(toTaskView(task('task'), { ...alone, ...around }).ready).toBe(ready);
});
