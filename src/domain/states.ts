import type { Status } from '#contract/task.ts';
import type { StateKind } from '#contract/workflow.ts';
import { DEFAULT_WORKFLOW } from './default-workflow.ts';

/** The words that files and old rows use, whatever the project's own workflow calls its states. */
const KINDS: ReadonlyMap<string, StateKind> = new Map(
  DEFAULT_WORKFLOW.states.map(({ name, kind }) => [name, kind]),
);

/** The state that a status means when nothing says more. */
export const STATE_FOR_STATUS = { open: 'todo', in_progress: 'in_progress', closed: 'done' } as const;

const CANCELLING = /^(cancelled|duplicate|wontfix)/i;

export function kindOfState(state: string): StateKind {
  return KINDS.get(state) ?? 'custom';
}

export function isParkedState(state: string): boolean {
  return kindOfState(state) === 'backlog';
}

export function isCancelling(reason: string): boolean {
  return CANCELLING.test(reason);
}

/** Where a close ends: cancelled when its reason says so, done otherwise. */
export function closedState(reason: string): string {
  return isCancelling(reason) ? 'cancelled' : 'done';
}

/** The state of a line or row that names none. */
export function defaultState(status: Status, closeReason: string | null): string {
  return status === 'closed' ? closedState(closeReason ?? '') : STATE_FOR_STATUS[status];
}

/** The status that a state of this kind means. */
export function statusOfState(state: string): Status {
  switch (kindOfState(state)) {
    case 'backlog':
    case 'initial':
      return 'open';
    case 'active':
    case 'gate':
    case 'custom':
      return 'in_progress';
    case 'terminal':
      return 'closed';
  }
}
