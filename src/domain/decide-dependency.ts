import type { DependencyType } from '#contract/task.ts';
import { checkElements } from './bound-elements.ts';
import type { Reach } from './bounded-walk.ts';
import { decideSeen, type Seen } from './decide-seen.ts';
import type { GraphRefusal } from './graph-refusal.ts';
import { listDependencies } from './record-codec.ts';
import { editRecord } from './task-changes.ts';
import type { Deciding, SeenTask, TaskPlan } from './task-plan.ts';
import { dependencyKey, type TaskRecord } from './task-record.ts';
import type { TaskRefusal } from './task-refusal.ts';

/** That the task depends on another, whose whole id it is. */
export interface Dependency extends Pick<Seen, 'fence'> {
  readonly to: string;
  readonly type: DependencyType;
}

/** Whether the way back counts: one that leads from the other task to this one. */
export function needsWayBack({ record }: SeenTask, { to, type }: Dependency, { now }: Deciding): boolean {
  return type === 'blocks' && to !== record.id && withDependency(record, { to, type }, now) !== record;
}

/**
 * `way_back`: how `to` leads to the task by what it waits for; undefined where that does not count. `kept`: it is there
 * already.
 */
export function decideDependency(
  task: SeenTask,
  dependency: Dependency,
  { way_back, deciding }: { readonly way_back: Reach | undefined; readonly deciding: Deciding },
): TaskPlan | { readonly outcome: 'kept' } | TaskRefusal {
  const { record } = task;
  const { to, type, fence } = dependency;
  if (to === record.id) return { outcome: 'cycle', by: 'dependency', path: [to, to] };
  const other = decideSeen(task, { fence });
  if (other !== undefined) return other;
  const after = withDependency(record, dependency, deciding.now);
  if (after === record) return { outcome: 'kept' };
  const command = `forge dep add ${record.id} ${to}`;
  const cycle = way_back && decideWayBack(record.id, way_back, { by: 'dependency', command });
  if (cycle !== undefined) return cycle;
  checkElements(record, after);
  const more = { dependency: { id: to, type } };
  return { outcome: 'save', after, happening: { type: 'dependency.added', changed: ['dependencies'], more } };
}

/** The dependency that goes; every one on that task where no type is named. */
export function decideNoDependency(
  task: SeenTask,
  { to, type, fence }: Omit<Dependency, 'type'> & { readonly type: DependencyType | undefined },
  { now }: Deciding,
): (TaskPlan & { readonly removed: readonly DependencyType[] }) | TaskRefusal {
  const { record } = task;
  const other = decideSeen(task, { fence });
  if (other !== undefined) return other;
  const edges = listDependencies(record).filter(
    (edge) => edge.id === to && (type === undefined || edge.type === type),
  );
  if (edges.length === 0) return { outcome: 'no_dependency', to, type };
  const dependencies = new Map(edges.map((edge) => [dependencyKey(to, edge.type), { value: undefined }]));
  return {
    outcome: 'save',
    after: editRecord(record, { dependencies }, now),
    happening: {
      type: 'dependency.removed',
      changed: ['dependencies'],
      more: { dependencies: edges },
    },
    removed: edges.map((edge) => edge.type as DependencyType), // decoded as such
  };
}

/** A blocker that is not in this project is known by its edge alone. */
export function isDependency(record: TaskRecord, id: string): boolean {
  return listDependencies(record).some((edge) => edge.id === id);
}

/** `way_back`: how the parent lies in the task by its own parents. */
export function decideParent(id: string, parent: string, way_back: Reach): GraphRefusal | undefined {
  return decideWayBack(id, way_back, { by: 'parent', command: `forge task update ${id} --parent ${parent}` });
}

function decideWayBack(
  id: string,
  way_back: Reach,
  { by, command }: { readonly by: 'dependency' | 'parent'; readonly command: string },
): GraphRefusal | undefined {
  switch (way_back.outcome) {
    case 'apart':
      return undefined;
    case 'too_many':
      return { outcome: 'walk_too_long', command };
    case 'reached':
      return { outcome: 'cycle', by, path: [id, ...way_back.path] };
  }
}

function withDependency(
  record: TaskRecord,
  { to, type }: Pick<Dependency, 'to' | 'type'>,
  now: number,
): TaskRecord {
  return editRecord(record, { dependencies: new Map([[dependencyKey(to, type), { value: true }]]) }, now);
}
