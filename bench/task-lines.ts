import { closeSync, openSync, writeSync } from 'node:fs';
import { encodeRecord } from '#domain/record-codec.ts';
import { claimRecord, closeRecord, newRecord } from '#domain/task-changes.ts';
import { dependencyKey, type TaskRecord } from '#domain/task-record.ts';
import { compareText } from '#kernel/text.ts';
import { taskId } from './fill-store.ts';

const BEGAN = 1_700_000_000_000;
const TEXT = 'What is to be done, and how to tell that it is. '.repeat(4);

/** Some 650 bytes a task, stamps included: seven of ten were claimed and closed, and nearly all wait for another. */
export function toBenchRecord(i: number): TaskRecord {
  const at = BEGAN + i * 1000;
  const made = newRecord(
    {
      id: taskId(i),
      created_by: 'orchestrator',
      fields: { title: `Task number ${i}`, description: TEXT, priority: i % 5 },
      assignee: null,
      state: 'todo',
      labels: [`area-${i % 7}`, 'core'],
      dependencies: i < 60 ? [] : [dependencyKey(taskId(i - 1 - ((i * 37) % 50)), 'blocks')],
      metadata: new Map([['n', i]]),
    },
    at,
  );
  if (i % 10 < 3) return made;
  return closeRecord(claimRecord(made, `worker-${i % 4}`, at + 5_000), 'done', at + 60_000);
}

/** `.forge/tasks.jsonl` with so many tasks, as an export writes it. */
export function writeTaskFile(
  path: string,
  count: number,
  change: (record: TaskRecord, i: number) => TaskRecord = (record) => record,
): void {
  const numbers = Array.from({ length: count }, (_, i) => i);
  numbers.sort((a, b) => compareText(taskId(a), taskId(b)));
  const file = openSync(path, 'w');
  let lines: string[] = [];
  const flush = (): void => {
    if (lines.length > 0) writeSync(file, `${lines.join('\n')}\n`);
    lines = [];
  };
  for (const i of numbers) {
    lines.push(encodeRecord(change(toBenchRecord(i), i)));
    if (lines.length === 1_000) flush();
  }
  flush();
  closeSync(file);
}
