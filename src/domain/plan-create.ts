import type { TaskType } from '#contract/task.ts';
import { generateTaskId, idLength, type RandomBytes } from '#kernel/ids.ts';
import type { Json } from '#kernel/json.ts';
import { LIMITS } from '#kernel/limits.ts';
import { checkElements } from './bound-elements.ts';
import { checkMetadataSize } from './metadata.ts';
import { encodeMetadata } from './record-codec.ts';
import { editRecord, newRecord } from './task-changes.ts';
import type { Deciding, TaskPlan } from './task-plan.ts';
import { dependencyKey } from './task-record.ts';

/** What a new task is to be; `parent_id` and `blockers` are whole ids. */
export interface TaskWish {
  readonly title: string;
  readonly description: string;
  readonly type: TaskType;
  readonly priority: number;
  readonly state: string;
  readonly parent_id: string | null;
  readonly assignee: string | null;
  readonly labels: readonly string[];
  readonly github_issue: number | null;
  readonly blockers: readonly string[];
  readonly metadata: ReadonlyMap<string, Json>;
  /** What the workflow keeps on a task, by the names of its line. */
  readonly workflow_fields?: ReadonlyMap<string, Json> | undefined;
}

/** Throws too_large and invalid_input where the task would be larger than a command may make one. */
export function planCreate(id: string, wish: TaskWish, { actor, now }: Deciding): TaskPlan {
  const { title, description, priority, type, parent_id, github_issue } = wish;
  const record = newRecord(
    {
      id,
      created_by: actor.name,
      fields: { title, description, priority, type, parent_id, github_issue },
      assignee: wish.assignee,
      state: wish.state,
      labels: [...new Set(wish.labels)],
      dependencies: [...new Set(wish.blockers.map((blocker) => dependencyKey(blocker, 'blocks')))],
      metadata: wish.metadata,
    },
    now,
  );
  checkMetadataSize(encodeMetadata(record));
  checkElements(undefined, record);
  const after = editRecord(record, { fields: wish.workflow_fields ?? new Map() }, now);
  return { outcome: 'save', after, happening: { type: 'task.created', changed: [] } };
}

/** A random id that no task has or had; `tasks`: about how many there are. */
export function chooseId({
  prefix,
  tasks,
  random,
  is_taken,
}: {
  readonly prefix: string;
  readonly tasks: number;
  readonly random: RandomBytes;
  readonly is_taken: (id: string) => boolean;
}): string {
  for (let length = idLength(tasks); ; length += 1) {
    for (let tries = 0; tries < LIMITS.id_tries; tries += 1) {
      const id = generateTaskId(prefix, length, random);
      if (!is_taken(id)) return id;
    }
  }
}
