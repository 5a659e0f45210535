import type { Task } from '#contract/task.ts';
import { changesStatus, toEventRow } from '#domain/describe-change.ts';
import type { TaskRecord } from '#domain/task-record.ts';
import type { Database } from './database.ts';
import { insertEvent, type NewEvent } from './log-rows.ts';

export interface TaskChange extends Omit<NewEvent, 'data' | 'task_id'> {
  readonly task: Task;
  readonly changed: readonly string[];
  readonly before: TaskRecord | undefined;
  readonly after: TaskRecord;
  readonly more?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Tells the feed of a change of a task. A claim, a close, a release and a reopening are told a second time as
 * `task.status_changed`, for readers that follow that alone. Returns the number of the first.
 */
export function insertTaskEvent(db: Database, change: TaskChange): number {
  const { type, triggered_by, created_at, task, changed, before, after, more } = change;
  const row = before === undefined ? { task } : toEventRow(task, { changed, before, after });
  const event = { task_id: after.id, triggered_by, created_at };
  const seq = insertEvent(db, { ...event, type, data: { ...row, changed, ...more } });
  if (before !== undefined && changesStatus(type, before, after)) {
    const states = { from_state: before.life.state, to_state: after.life.state };
    const data = { ...toEventRow(task, { changed: [], before, after }), changed, beside: type, ...states };
    insertEvent(db, { ...event, type: 'task.status_changed', data });
  }
  return seq;
}
