import type { DependencyType, Status, Task, TaskSummary, TaskType } from '#contract/task.ts';
import { standingState } from '#domain/workflow.ts';
import { showWorkflowFields } from '#domain/workflow-fields.ts';
import type { JsonObject } from '#kernel/json.ts';
import { readJson } from '#kernel/read-json.ts';
import type { Database, Row } from './database.ts';
import { toDamage } from './translate-error.ts';

/** All outbound edges of a task as a JSON list, in the canonical order. Uses both primary keys. */
const DEPENDENCIES = `(SELECT json_group_array(json_object('id', e.to_id, 'type', e.dep_type)) FROM (
  SELECT to_id, dep_type FROM dependencies WHERE from_id = t.id
  UNION ALL SELECT to_id, dep_type FROM unresolved_dependencies WHERE from_id = t.id
  ORDER BY to_id, dep_type) e) AS dependencies`;

/** Of a task without its long texts and its edges. */
export const BRIEF_COLUMNS = `t.id, t.title, t.status, t.state, t.close_reason, t.priority, t.type, t.assignee, t.parent_id,
  t.labels, t.github_issue, t.created_at, t.created_by, t.updated_at, t.closed_at, t.version, t.extra`;

/** What a Task is made of, for `FROM tasks t`. */
export const TASK_COLUMNS = `t.id, t.title, t.description, t.status, t.state, t.close_reason, t.priority, t.type, t.assignee,
  t.parent_id, t.labels, t.github_issue, t.created_at, t.created_by, t.updated_at, t.closed_at, t.metadata, t.version, t.extra, ${DEPENDENCIES}`;

export const SUMMARY_COLUMNS =
  't.id, t.title, t.status, t.state, t.close_reason, t.priority, t.type, t.assignee';

/**
 * As `isArchived` of the domain says, for `FROM tasks t`: a line from anywhere may hold something that is no time. Only of
 * rows that have something there more than the column is read.
 */
export const ARCHIVED = "(t.archived_at IS NOT NULL AND json_type(t.extra, '$.archived_at') = 'text')";

type RowSource = Pick<Database, 'path' | 'workflow'>;

/** Rows of the driver have no prototype and the database's types; these give them ours. The schema's checks prove the casts. */
export function rowToTask(row: Row, db: RowSource): Task {
  const reason = row.close_reason as string | null;
  return {
    id: row.id as string,
    title: row.title as string,
    description: row.description as string,
    status: row.status as Status,
    state: toState(row, db),
    ...(reason !== null && { close_reason: reason }),
    priority: row.priority as number,
    type: row.type as TaskType,
    assignee: row.assignee as string | null,
    parent_id: row.parent_id as string | null,
    dependencies: JSON.parse(row.dependencies as string) as { id: string; type: DependencyType }[],
    labels: JSON.parse(row.labels as string) as string[],
    github_issue: row.github_issue as number | null,
    created_at: row.created_at as string,
    created_by: row.created_by as string,
    updated_at: row.updated_at as string,
    closed_at: row.closed_at as string | null,
    metadata: readJson(row.metadata as string) as Record<string, unknown>,
    version: row.version as number,
    ...(row.extra !== null && showExtra(row.extra as string)),
  };
}

/** The same for BRIEF_COLUMNS. */
export function rowToBrief(row: Row, db: RowSource): Omit<Task, 'description' | 'metadata' | 'dependencies'> {
  const {
    description: _description,
    metadata: _metadata,
    dependencies: _dependencies,
    ...brief
  } = rowToTask({ ...row, description: '', metadata: '{}', dependencies: '[]' }, db);
  return brief;
}

const STATUSES: ReadonlySet<unknown> = new Set<Status>(['open', 'in_progress', 'closed']);

/** Where the task stands, of a row with status, state and close_reason. */
export function toState(row: Row, { path, workflow }: RowSource): string {
  // Pages of a file that changed places are whole, and show the rows of another table: SQLite notices nothing.
  if (!STATUSES.has(row.status)) throw toDamage(path, 'a row of the tasks is none');
  const life = { status: row.status as Status, state: row.state as string };
  return standingState(workflow, { ...life, close_reason: row.close_reason as string | null });
}

function showExtra(text: string): Partial<Task> {
  return showWorkflowFields(Object.entries(readJson(text) as JsonObject));
}

export function rowToSummary(row: Row, db: RowSource): TaskSummary {
  return {
    id: row.id as string,
    title: row.title as string,
    status: row.status as Status,
    state: toState(row, db),
    priority: row.priority as number,
    type: row.type as TaskType,
    assignee: row.assignee as string | null,
  };
}
