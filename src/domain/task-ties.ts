import type { DependencyType } from '#contract/task.ts';
import { editRecord } from './task-changes.ts';
import type { Deciding, TaskPlan } from './task-plan.ts';
import { dependencyKey, fieldValue, type TaskRecord } from './task-record.ts';

/** What hangs on a task: its children, and those that depend on it. */
export interface Ties {
  readonly children: readonly string[];
  readonly dependents: readonly (readonly [id: string, type: DependencyType])[];
}

/** What ties one neighbour to the task. */
export interface Tie {
  readonly child: boolean;
  readonly types: readonly DependencyType[];
}

/** So that the record of each neighbour is changed once: children first. */
export function groupTies({ children, dependents }: Ties): ReadonlyMap<string, Tie> {
  const ties = new Map<string, Tie>();
  for (const child of children) ties.set(child, { child: true, types: [] });
  for (const [from, type] of dependents) {
    const known = ties.get(from) ?? { child: false, types: [] };
    ties.set(from, { ...known, types: [...known.types, type] });
  }
  return ties;
}

/** The neighbour without its tie to the task `id`, or with it again. */
export function planTie(
  neighbour: TaskRecord,
  { id, tie, is_there }: { readonly id: string; readonly tie: Tie; readonly is_there: boolean },
  { now }: Pick<Deciding, 'now'>,
): TaskPlan {
  const value = is_there ? true : undefined;
  const edit = {
    ...(tie.child && { fields: new Map([['parent_id', is_there ? id : null]]) }),
    dependencies: new Map(tie.types.map((type) => [dependencyKey(id, type), { value }])),
  };
  const changed = [...(tie.child ? ['parent_id'] : []), ...(tie.types.length > 0 ? ['dependencies'] : [])];
  return {
    outcome: 'save',
    after: editRecord(neighbour, edit, now),
    happening: { type: 'task.updated', changed },
  };
}

/**
 * What comes back of a tie with the task `id`: nothing that was changed after `since`, and nothing that would close a
 * cycle. Undefined where that is nothing at all.
 */
export function findTieBack(
  neighbour: TaskRecord,
  {
    id,
    tie,
    since,
    is_above,
    is_awaited,
  }: {
    readonly id: string;
    readonly tie: Tie;
    readonly since: number;
    /** The task lies in the neighbour. */
    readonly is_above: boolean;
    /** The task waits for the neighbour. */
    readonly is_awaited: boolean;
  },
): Tie | undefined {
  const isFree = fieldValue(neighbour, 'parent_id') === null;
  const cut = neighbour.fields.get('parent_id')?.stamp ?? 0;
  const child = tie.child && isFree && cut >= since && !is_above;
  const { elements, floor } = neighbour.dependencies;
  const types = tie.types.filter((type) => {
    if ((elements.get(dependencyKey(id, type))?.stamp ?? floor) < since) return false;
    return type !== 'blocks' || !is_awaited;
  });
  return child || types.length > 0 ? { child, types } : undefined;
}
