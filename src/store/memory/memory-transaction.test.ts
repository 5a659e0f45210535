import { newRecord } from '#domain/task-changes.ts';
import { expect, test } from 'vitest';
import { createMemoryTables } from './memory-tables.ts';
import { findTask } from './memory-ids.ts';
import { checkSeen, toDeciding } from './memory-seen.ts';
import { newestEvent, writeMemory } from './memory-transaction.ts';

const by = { actor: { kind: 'user', name: 'ann', named: true }, now: 1_000 } as const;

test('a write that throws leaves nothing behind, and its number is given again', () => {
  const tables = createMemoryTables(0);
  const tell = (task_id: string): number =>
    writeMemory({ tables }, by, (tx) => tx.tell({ type: 'task.updated', task_id, data: {} }));
  expect(tell('fg-1')).toBe(1);
  const write = (): void =>
    writeMemory({ tables }, by, (tx) => {
      tx.tell({ type: 'task.updated', task_id: 'fg-2', data: {} });
      tables.facts.set('paused_at', 1);
      tables.events.delete(1);
      throw new Error('no');
    });
  expect(write).toThrow('no');
  expect(tables.facts.get('paused_at')).toBeUndefined();
  expect(newestEvent(tables)).toBe(1);
  expect(tables.events.list()).toMatchObject([{ seq: 1, task_id: 'fg-1', triggered_by: 'user:ann' }]);
  expect(tell('fg-3')).toBe(2);
});

test('nothing changes outside a write, and none begins inside another', () => {
  const tables = createMemoryTables(0);
  expect(() => tables.facts.set('paused_at', 1)).toThrow('a table changes inside a write only');
  const inner = (): void => writeMemory({ tables }, by, () => undefined);
  expect(() => writeMemory({ tables }, by, inner)).toThrow('one write at a time');
  expect(inner).not.toThrow();
});

test('a task is found by the beginning of its id, and is the one that the caller saw', () => {
  const tables = createMemoryTables(0);
  const task = { id: 'fg-a3f8', created_by: 'ann', state: 'todo', assignee: null, fields: { title: 'One' } };
  writeMemory({ tables }, by, (tx) => {
    const record = newRecord({ ...task, labels: [], dependencies: [], metadata: new Map() }, by.now);
    tables.tasks.set(task.id, { row: 1, record, version: 2, fence: 3 });
    const row = tx.read(findTask(tables, 'A3').id);
    expect(() => checkSeen(tables, row, { version: 2, fence: 3 })).not.toThrow();
    expect(() => checkSeen(tables, row, { version: 1 })).toThrow('has version 2, not 1');
    expect(toDeciding(tx)).toMatchObject({ actor: by.actor, now: by.now });
  });
});
