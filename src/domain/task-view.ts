import type { Task, TaskView } from '#contract/task.ts';
import { isReady } from './readiness.ts';

/** What stands around a task; of very many neighbours those that are shown. */
export interface TaskSurroundings extends Pick<
  TaskView,
  | 'dependencies'
  | 'dependents'
  | 'subtasks'
  | 'child_count'
  | 'closed_child_count'
  | 'comments'
  | 'open_blockers'
  | 'counters'
> {
  /** Of all dependents. */
  readonly dependent_count: number;
  /** Its state parks it, or it is archived. */
  readonly parked: boolean;
}

/** A task with all that stands around it. */
export function toTaskView(task: Task, { dependent_count, parked, ...around }: TaskSurroundings): TaskView {
  const { child_count, closed_child_count } = around;
  const dependents_more = dependent_count - around.dependents.length;
  const subtasks_more = child_count - around.subtasks.length;
  return {
    ...task,
    ...around,
    // An epic's counts also stand where older exports of the format have them.
    metadata: task.type === 'epic' ? { ...task.metadata, child_count, closed_child_count } : task.metadata,
    ...(dependents_more > 0 && { dependents_more }),
    ...(subtasks_more > 0 && { subtasks_more }),
    ready: isReady({ ...task, open_blockers: around.open_blockers, parked }),
  };
}
