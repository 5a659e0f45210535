import type { DependencyType, Task, TaskType } from '#contract/task.ts';
import { toIso } from '#kernel/clock.ts';
import { listDependencies, listLabels } from './record-codec.ts';
import { FIELD_NAMES, fieldValue, lastStamp, textValue, type TaskRecord } from './task-record.ts';
import { standingState, type ResolvedWorkflow } from './workflow.ts';
import { otherFields, showWorkflowFields } from './workflow-fields.ts';

/** The record as every surface shows it; where the workflow is not known, in the state that the record names. */
export function toTask(record: TaskRecord, version: number, workflow?: ResolvedWorkflow): Task {
  const { life } = record;
  const metadata: Record<string, unknown> = Object.fromEntries(
    [...record.metadata.elements]
      .filter(([, { value }]) => value !== undefined)
      .map(([key, { value }]) => [key, value]),
  );
  return {
    id: record.id,
    title: textValue(record, 'title'),
    description: textValue(record, 'description'),
    status: life.status,
    state: workflow === undefined ? life.state : standingState(workflow, life),
    ...(life.close_reason !== null && { close_reason: life.close_reason }),
    priority: Number(fieldValue(record, 'priority')),
    type: fieldValue(record, 'type') as TaskType, // checked when it was decoded or parsed
    assignee: life.assignee,
    parent_id: fieldValue(record, 'parent_id') as string | null, // checked likewise
    dependencies: listDependencies(record) as { id: string; type: DependencyType }[], // checked likewise
    labels: listLabels(record),
    github_issue: fieldValue(record, 'github_issue') as number | null, // checked likewise
    created_at: record.created_at,
    created_by: record.created_by,
    updated_at: toIso(lastStamp(record)),
    closed_at: life.closed_at,
    metadata,
    version,
    ...(record.fields.size > FIELD_NAMES.length && showWorkflowFields(otherFields(record))),
  };
}
