import type { Status } from '#contract/task.ts';
import { ForgeError } from '#kernel/errors.ts';
import { changedNames, eventOf } from './describe-change.ts';
import { moveRecord } from './task-changes.ts';
import type { Deciding, TaskPlan } from './task-plan.ts';
import type { TaskRecord } from './task-record.ts';
import { kindOf, statusOfKind, type ResolvedWorkflow } from './workflow.ts';

/** Which state of the new workflow takes the tasks of one that it does not have. */
export type StateMap = ReadonlyMap<string, string>;

/** Throws invalid_input for what names no state. */
export function readStateMap(given: Readonly<Record<string, unknown>>): StateMap {
  const map = new Map<string, string>();
  for (const [from, to] of Object.entries(given)) {
    if (typeof to !== 'string')
      throw refuse(`Which state takes the tasks of ${from}? Give its name`, { state: from });
    map.set(from, to);
  }
  return map;
}

/**
 * Throws invalid_input for a map that says nothing about this change: from a state that nobody knows or that stays, or
 * to one that the new workflow does not have.
 */
export function checkStateMap(
  map: StateMap,
  { workflow, known }: { readonly workflow: ResolvedWorkflow; readonly known: ReadonlySet<string> },
): void {
  for (const [from, to] of map) {
    if (workflow.states.has(from))
      throw refuse(`The new workflow has ${from} too: its tasks stay there`, { state: from });
    if (!known.has(from))
      throw refuse(`There is no state ${from} to map`, { state: from, known: [...known] });
    if (workflow.states.has(to)) continue;
    throw refuse(`The new workflow has no state ${to}`, { state: to, known: [...workflow.states.keys()] });
  }
}

function refuse(message: string, details: Readonly<Record<string, unknown>>): ForgeError {
  return new ForgeError('invalid_input', message, { hint: 'forge workflow show', details });
}

/**
 * A task in a state that the workflow has no longer goes where the map says. No edge leads there and no person decided about
 * the single task, so no guard and no hook is asked; the log says why it moved. Throws state_invalid where it may not.
 */
export function planMapping(
  record: TaskRecord,
  move: { readonly from: string; readonly to: string },
  { now, workflow }: Omit<Deciding, 'actor'>,
): TaskPlan {
  const { id, life } = record;
  const status = mapStatus({ id, status: life.status }, move, workflow);
  const assignee = status === life.status ? life.assignee : null;
  const after = moveRecord(record, { status, state: move.to, assignee }, now);
  return {
    outcome: 'save',
    after,
    happening: {
      type: eventOf(record, after),
      changed: changedNames(record, after),
      from_state: move.from,
      reason: `the workflow has no state ${move.from} any more; it was mapped to ${move.to}`,
    },
  };
}

/**
 * The status of a task once it is mapped. A map says where tasks stand, not whether they are done or whose they are:
 * at most work goes back to the queue. Throws state_invalid for everything else.
 */
export function mapStatus(
  task: { readonly id: string; readonly status: Status },
  { from, to }: { readonly from: string; readonly to: string },
  workflow: ResolvedWorkflow,
): Status {
  const status = statusOfKind(kindOf(workflow, to) ?? 'custom');
  if (status === task.status || (task.status === 'in_progress' && status === 'open')) return status;
  throw new ForgeError(
    'state_invalid',
    `${from} cannot become ${to}: ${task.id} is ${task.status} and would be ${status}`,
    {
      hint: `Map ${from} to another state, or move ${task.id} first`,
      details: { id: task.id, status: task.status, from, to },
    },
  );
}
