import { birthOf, identityOf, isSameTask } from './identity.ts';
import { joinCopies } from './join-copies.ts';
import { compareElements } from './join-records.ts';
import {
  dependencyKey,
  fieldValue,
  splitDependencyKey,
  type Element,
  type TaskRecord,
} from './task-record.ts';

/** Tasks by id, deleted ones too. A graph is closed under references: an id in it means a task of it, or nobody's. */
export type TaskGraph = ReadonlyMap<string, TaskRecord>;

/**
 * Two replicas of the graph as one. Tasks that were born with the same id by accident are told apart first, and the
 * references of each side follow its own task.
 */
export function joinGraphs(a: TaskGraph, b: TaskGraph): Map<string, TaskRecord> {
  const shared = findSharedBirths(a, b);
  const joined = new Map(shared.size === 0 ? a : tellApart(a, shared));
  for (const [id, theirs] of shared.size === 0 ? b : tellApart(b, shared)) {
    const ours = joined.get(id);
    joined.set(id, ours === undefined ? theirs : joinCopies(ours, theirs));
  }
  return joined;
}

/** Births that stand for more than one task here, or did so once. */
export function findSharedBirths(a: TaskGraph, b: TaskGraph): Set<string> {
  const shared = new Set<string>();
  for (const graph of [a, b]) {
    for (const record of graph.values()) {
      const birth = birthOf(record);
      if (birth !== record.id) shared.add(birth);
    }
  }
  for (const [id, theirs] of b) {
    const ours = a.get(id);
    if (ours !== undefined && ours !== theirs && !isSameTask(ours, theirs)) shared.add(birthOf(theirs));
  }
  return shared;
}

/** The graph with the tasks of these births under the names that tell them apart. */
export function tellApart(graph: TaskGraph, births: ReadonlySet<string>): TaskGraph {
  const renamed = new Map<string, string>();
  for (const birth of births) {
    const record = graph.get(birth);
    if (record !== undefined) renamed.set(birth, identityOf(record).apart);
  }
  if (renamed.size === 0) return graph;
  const result = new Map<string, TaskRecord>();
  for (const record of graph.values()) {
    const moved = renameTask(record, renamed);
    const there = result.get(moved.id);
    result.set(moved.id, there === undefined ? moved : joinCopies(there, moved));
  }
  return result;
}

/** The task's own id and its references; the very same record where none of them changed. */
export function renameTask(record: TaskRecord, renamed: ReadonlyMap<string, string>): TaskRecord {
  const id = renamed.get(record.id) ?? record.id;
  const parent = fieldValue(record, 'parent_id');
  const newParent = typeof parent === 'string' ? renamed.get(parent) : undefined;
  const field = record.fields.get('parent_id');
  const fields =
    newParent === undefined || field === undefined
      ? record.fields
      : new Map(record.fields).set('parent_id', { ...field, value: newParent });
  const dependencies = renameElements(record.dependencies, renamed);
  if (id === record.id && fields === record.fields && dependencies === record.dependencies) return record;
  return { ...record, id, fields, dependencies };
}

function renameElements(
  map: TaskRecord['dependencies'],
  renamed: ReadonlyMap<string, string>,
): TaskRecord['dependencies'] {
  const elements = new Map<string, Element>();
  let changed = false;
  for (const [key, element] of map.elements) {
    const { id, type } = splitDependencyKey(key);
    const to = renamed.get(id);
    const name = to === undefined ? key : dependencyKey(to, type);
    changed ||= to !== undefined;
    const there = elements.get(name);
    if (there === undefined || compareElements(element, there) > 0) elements.set(name, element);
  }
  return changed ? { ...map, elements } : map;
}
