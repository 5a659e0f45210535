import type { Comment, DependencyType, TaskSummary } from '#contract/task.ts';
import type { Json } from '#kernel/json.ts';
import { compareText } from '#kernel/text.ts';
import type { NewTaskInput } from '../store.ts';
import type { ModelLife } from './model-life-behaviour.ts';

export interface ModelTask extends ModelLife {
  readonly id: string;
  title: string;
  description: string;
  priority: number;
  type: NewTaskInput['type'];
  parent_id: string | null;
  github_issue: number | null;
  readonly created_at: string;
  readonly created_by: string;
  /** `id type` of each edge. */
  edges: Set<string>;
  labels: Set<string>;
  metadata: Map<string, Json>;
  comments: Comment[];
  version: number;
  fence: number;
}

/** As `listTasks` gives it, without the times that the stamps' rule decides. */
export function plainTask(task: ModelTask) {
  const { edges: _edges, comments: _comments, fence: _fence, close_reason, labels, metadata, ...rest } = task;
  return {
    ...rest,
    ...(close_reason !== undefined && { close_reason }),
    dependencies: listEdges(task),
    labels: [...labels].sort(compareText),
    metadata: Object.fromEntries(metadata) as Record<string, unknown>,
  };
}

export function listEdges(task: ModelTask): { id: string; type: DependencyType }[] {
  return [...task.edges].sort(compareText).map((edge) => {
    const [id = '', type] = edge.split(' ');
    return { id, type: type as DependencyType }; // put together above
  });
}

export function summary({ id, title, status, state, priority, type, assignee }: ModelTask): TaskSummary {
  return { id, title, status, state, priority, type, assignee };
}

export function fingerprint({ version: _version, ...task }: ModelTask): string {
  return JSON.stringify([
    { ...task, fence: 0 },
    [...task.edges].sort(compareText),
    [...task.labels].sort(compareText),
    [...task.metadata],
  ]);
}

export function copyTask(task: ModelTask): ModelTask {
  const { edges, labels, metadata, comments } = task;
  return {
    ...task,
    edges: new Set(edges),
    labels: new Set(labels),
    metadata: new Map(metadata),
    comments: [...comments],
  };
}
