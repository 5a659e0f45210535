import type { Status } from '#contract/task.ts';

/** What a state is for. Nothing else in Forge looks at a state's name. */
export type StateKind = 'backlog' | 'initial' | 'active' | 'gate' | 'custom' | 'terminal';

/** The built-in workflow's states. */
const STATE_KINDS: Readonly<Record<string, StateKind>> = {
  backlog: 'backlog',
  todo: 'initial',
  planning: 'active',
  in_progress: 'active',
  review: 'gate',
  merging: 'gate',
  merge_failed: 'custom',
  blocked: 'custom',
  done: 'terminal',
  cancelled: 'terminal',
};

/** The state that a status means when nothing says more. */
export const STATE_FOR_STATUS = { open: 'todo', in_progress: 'in_progress', closed: 'done' } as const;

const CANCELLING = /^(cancelled|duplicate|wontfix)/i;

export function kindOfState(state: string): StateKind {
  return Object.hasOwn(STATE_KINDS, state) ? (STATE_KINDS[state] ?? 'custom') : 'custom';
}

export function isParkedState(state: string): boolean {
  return kindOfState(state) === 'backlog';
}

/** Where a close ends: cancelled when its reason says so, done otherwise. */
export function closedState(reason: string): string {
  return CANCELLING.test(reason) ? 'cancelled' : 'done';
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
