import { decodeRecord } from '#domain/record-codec.ts';
import type { TaskRecord } from '#domain/task-record.ts';
import { toIso } from '#kernel/clock.ts';
import type { Json } from '#kernel/json.ts';
import { fitTask, type FittedTask } from './fit-task.ts';
import { hashBase36 } from './tracker-ids.ts';
import { createdTime, type AddNote, type TrackerTask, type Tracker } from './tracker-task.ts';
import { latest } from './tracker-time.ts';
import type { LinkedTask } from './link-tasks.ts';

export interface RecordOptions {
  readonly tool: Tracker;
  /** Our id of every key. */
  readonly ids: ReadonlyMap<string, string>;
  readonly note: AddNote;
}

/**
 * A line without stamps: all of it is as new as its `updated_at`. What of it is a change against an import before, the
 * store knows, so that a later one takes away nothing that was added here.
 */
export function toRecord(linked: LinkedTask, { tool, ids, note }: RecordOptions): TaskRecord {
  const { task } = linked;
  const deleted = task.deleted !== undefined;
  const fitted = fitTask(tool, task, deleted ? () => undefined : note);
  const created = createdTime(task);
  const stamp = latest(created, task.updated, task.closed, task.deleted, linked.linked) ?? created;
  const ours = (key: string): string => ids.get(key) ?? key;
  const identity = {
    id: ours(task.key),
    created_at: toIso(created),
    created_by: fitted.created_by,
    updated_at: toIso(stamp),
    comments: toComments(tool, task, fitted),
  };
  // As Forge deletes: content empty, comments beneath.
  if (deleted) {
    return decodeRecord({ ...identity, status: 'open', deleted_at: toIso(stamp) });
  }
  return decodeRecord({
    ...identity,
    title: fitted.title,
    description: fitted.description,
    status: task.status,
    state: task.state,
    close_reason: task.status === 'closed' ? fitted.close_reason : null,
    closed_at: task.status === 'closed' ? toIso(task.closed ?? stamp) : null,
    priority: task.priority,
    type: task.type,
    assignee: fitted.assignee,
    parent_id: linked.parent === undefined ? null : ours(linked.parent),
    dependencies: linked.dependencies.map(({ key, type }) => ({ id: ours(key), type })),
    labels: fitted.labels,
    github_issue: task.github_issue,
    metadata: fitted.metadata,
  });
}

/** Ids of comments are computed from what they say, because theirs are numbers that every clone counts anew. */
function toComments(tool: Tracker, task: TrackerTask, { comments }: FittedTask): Json[] {
  const seen = new Map<string, number>();
  return comments.map(({ author, body, at }) => {
    const created_at = toIso(at ?? createdTime(task));
    const text = JSON.stringify([author, created_at, body]);
    const again = seen.get(text) ?? 0;
    seen.set(text, again + 1);
    const id = `c-${hashBase36(tool, task.key, text, String(again)).slice(0, 10)}`;
    return { id, author, body, reply_to: null, created_at };
  });
}
