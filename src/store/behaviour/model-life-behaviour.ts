import type { Status } from '#contract/task.ts';
import type { TaskUpdate } from '../store.ts';

export interface ModelLife {
  status: Status;
  state: string;
  assignee: string | null;
  close_reason: string | undefined;
}

/** What an update makes of status, state and owner; `mine` is a claim that is already there. */
export function nextLife(
  task: ModelLife,
  { status, state, assignee, reason }: TaskUpdate,
  actor: string,
): ModelLife | 'keep' | 'mine' | 'lost' | 'refused' {
  const live = (life: Partial<ModelLife>): ModelLife => ({
    status: task.status,
    state: task.state,
    assignee: task.assignee,
    close_reason: task.close_reason,
    ...life,
  });
  const started = (owner: string): ModelLife =>
    live({ status: 'in_progress', state: 'in_progress', assignee: owner });
  const queued = (to: string, owner: string | null): ModelLife =>
    live({ status: 'open', state: to, assignee: owner, close_reason: undefined });
  const owner = assignee === undefined ? task.assignee : assignee;
  if (state !== undefined && (status ?? task.status) !== 'open') return 'refused';
  if (status === 'closed') {
    if (task.status === 'closed') return 'keep';
    const why = reason ?? 'done';
    const end = /^(cancelled|duplicate|wontfix)/i.test(why) ? 'cancelled' : 'done';
    return live({ status: 'closed', state: end, assignee: owner, close_reason: why });
  }
  if (status === 'open') {
    if (task.status === 'open') return queued(state ?? task.state, owner);
    return queued(state ?? 'todo', assignee ?? null);
  }
  if (status === 'in_progress') {
    if (assignee === null) return 'refused';
    const name = assignee ?? task.assignee ?? actor;
    if (assignee !== undefined && task.status === 'in_progress')
      return task.assignee === name ? 'mine' : 'lost';
    if (task.status === 'open' && (task.assignee ?? name) !== name) return 'lost';
    if (task.status === 'in_progress') return 'keep';
    return task.status === 'closed' || task.state === 'backlog' ? 'refused' : started(name);
  }
  if (task.status !== 'in_progress') return live({ state: state ?? task.state, assignee: owner });
  if (owner === task.assignee) return 'keep';
  return owner === null ? queued('todo', null) : started(owner);
}
