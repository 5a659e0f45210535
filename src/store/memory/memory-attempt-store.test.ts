import { expect, test } from 'vitest';
import { newRecord } from '#domain/task-changes.ts';
import { memoryAttempts } from './memory-attempt-store.ts';
import { readLanding } from './memory-merges.ts';
import { createMemoryTables } from './memory-tables.ts';
import { writeMemory } from './memory-transaction.ts';
import { listWorked } from './memory-worked.ts';

const by = { actor: { kind: 'user', name: 'ann', named: true }, now: 1_000 } as const;
const watcher = { host: 'here', boot_id: 'b-1', pid_namespace: 'pid:[1]', pid: 7, start_time: 1 };

async function startWork() {
  const tables = createMemoryTables(0);
  const task = {
    id: 'fg-a1b2',
    created_by: 'ann',
    state: 'merging',
    assignee: null,
    fields: { title: 'One' },
  };
  const record = newRecord({ ...task, labels: [], dependencies: [], metadata: new Map() }, by.now);
  writeMemory({ tables }, by, () => tables.tasks.set(task.id, { row: 1, record, version: 1, fence: 0 }));
  const store = memoryAttempts({ tables }, { now: () => by.now });
  const wish = { id: 'a-1', name: 'a1b2-one', path: '/w', target: 'main', base_commit: 'ba5e' };
  const attempt = await store.startAttempt({ ...wish, task_id: task.id, agent: null, port: null }, by);
  return { tables, store, attempt, task_id: task.id };
}

test('the rules of a task see its attempts, with the roles in which they were worked on', async () => {
  const { tables, store, attempt, task_id } = await startWork();
  const run = { role: 'planner', agent: 'bot', executor: 'shell', fence: null, in_state: null } as const;
  const wish = {
    ...run,
    id: 'r-1',
    attempt_id: attempt.id,
    state: 'running',
    session_id: null,
    watcher,
  } as const;
  await store.createRun(wish, by);
  expect(listWorked(tables, task_id)).toMatchObject([{ id: 'a-1', state: 'active', roles: ['planner'] }]);
  expect(listWorked(tables, 'fg-none')).toEqual([]);
});

test('a merge that is about to move its target is seen until it was given up', async () => {
  const { tables, store, attempt, task_id } = await startWork();
  const wish = { id: 'm-1', target: 'main', strategy: 'merge', head_commit: 'c0ffee' } as const;
  await store.queueMerge({ ...wish, attempt_id: attempt.id, watcher }, by);
  await store.takeMerge({ id: 'm-1', watcher }, by);
  expect(readLanding(tables, task_id)).toBeUndefined();
  const landing = { id: 'm-1', candidate: 'cafe' };
  expect(await store.takeLanding({ ...landing, in_state: 'todo' }, by)).toMatchObject({ code: 'moved' });
  expect(readLanding(tables, task_id)).toBeUndefined();
  expect(await store.takeLanding({ ...landing, in_state: 'merging' }, by)).toBeUndefined();
  expect(readLanding(tables, task_id)).toEqual({ id: 'm-1', landed: false, finished_at: null });
  await store.clearLanding({ id: 'm-1' }, by);
  expect(readLanding(tables, task_id)).toBeUndefined();
});

test('what a caller does with a row that it was given is not written', async () => {
  const { store } = await startWork();
  const attempt = await store.getAttempt('a-1');
  attempt.state = 'archived';
  expect((await store.getAttempt('a-1')).state).toBe('active');
});
