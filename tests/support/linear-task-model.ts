import {
  leaseTime,
  type Answer,
  type Facts,
  type Request,
  type Status,
  type TaskSetup,
} from './linear-history.ts';

/**
 * What Forge promises about one task, written down a second time and apart from `src`: a mistake there is not made
 * here too. The workflow is the built-in one without budgets and without what needs a handler (see linear-client.ts).
 */
export interface TaskState {
  readonly status: Status;
  readonly state: string;
  readonly owner: string | null;
  readonly fence: number;
  readonly version: number;
  /** The last that was given out. It counts only while its fence is the task's. */
  readonly lease: Lease | null;
}

interface Lease {
  readonly fence: number;
  readonly ttl_ms: number;
  /** Of the steady clock; what a heartbeat is told is of the client's own. */
  readonly expires_at: number;
}

/** Whether holders may be judged at this time of the steady clock; to ask is also to be seen. */
export type Look = (at: number, ttl: number, by: 'holder' | 'rival') => boolean;

type TaskRequest = Exclude<Request, { op: 'next' | 'grace' }>;
type RequestOf<Op extends Request['op']> = Extract<Request, { op: Op }>;
interface Stepped {
  readonly state: TaskState;
  readonly answer: Answer;
}

export const NEW_TASK: TaskState = {
  status: 'open',
  state: 'todo',
  owner: null,
  fence: 0,
  version: 1,
  lease: null,
};

export const STATES: Readonly<
  Record<string, { readonly status: Status; readonly next: readonly string[]; readonly role?: string }>
> = {
  backlog: { status: 'open', next: ['todo'] },
  todo: { status: 'open', next: ['planning', 'in_progress', 'backlog'] },
  planning: { status: 'in_progress', next: ['in_progress', 'todo'], role: 'planner' },
  in_progress: { status: 'in_progress', next: ['review', 'todo'], role: 'coder' },
  review: { status: 'in_progress', next: ['merging', 'in_progress'] },
  merging: { status: 'in_progress', next: ['done', 'merge_failed'] },
  merge_failed: { status: 'in_progress', next: ['in_progress', 'merging', 'todo'] },
  blocked: { status: 'in_progress', next: ['todo', 'in_progress'] },
  done: { status: 'closed', next: [] },
  cancelled: { status: 'closed', next: [] },
};
const WORKING = ['planning', 'in_progress'];
const GATES = ['review', 'merging'];
/** What waits for others cannot go from here to work. */
const GATED = ['todo', 'blocked'];

export function stepTask(setup: TaskSetup, task: TaskState, request: TaskRequest, look: Look): Stepped {
  switch (request.op) {
    case 'claim':
      return claim(setup, task, request, look);
    case 'renew':
      return renew(task, request, look);
    case 'release':
      return release(task, request);
    case 'transition':
      return transition(setup, task, request);
    case 'close':
      return (
        checked(task, request) ??
        keptByOwner(task, request, { to: 'done', owner: task.owner }) ??
        withAnswer(close(task, 'done'))
      );
    case 'reopen':
      return checked(task, request) ?? reopen(task);
    case 'read':
      return { state: task, answer: { code: 'ok', facts: { ...seen(task), fence: task.fence } } };
  }
}

/** In the queue, for this one. */
export function isReady({ waits, coder }: TaskSetup, task: TaskState, actor: string): boolean {
  const free = task.status === 'open' && task.state === 'todo' && task.owner === null;
  return free && !waits && (coder === undefined || coder === actor);
}

export function take(task: TaskState, claimed: RequestOf<'claim' | 'next'>, look: Look): Stepped {
  const state = task.status === 'in_progress' ? task.state : 'in_progress';
  const after = grant(move(task, { state, owner: claimed.actor }), claimed, look);
  return { state: after, answer: { code: 'ok', facts: { ...seen(after), fence: after.fence } } };
}

/** A holder who is gone gives the task back. */
export function sweep(task: TaskState): TaskState {
  return { ...move(task, { state: 'todo', owner: null }), lease: null };
}

/** The owner's lease, where it is over. */
export function findExpired({ status, fence, lease }: TaskState, at: number): Lease | undefined {
  if (status !== 'in_progress' || lease === null || lease.fence !== fence) return undefined;
  const isOver = at >= lease.expires_at || lease.expires_at - at > lease.ttl_ms;
  return isOver ? lease : undefined;
}

function claim(setup: TaskSetup, task: TaskState, request: RequestOf<'claim'>, look: Look): Stepped {
  const { actor, force } = request;
  const at = leaseTime(request);
  const expired = task.owner === actor ? undefined : findExpired(task, at);
  const isGone = expired !== undefined && look(at, expired.ttl_ms, 'rival');
  const no = (code: string) => refuse(task, code, seen(task));
  if (task.status === 'closed') return no('closed');
  if (task.status === 'in_progress' && task.owner === actor) {
    const state = grant(task, request, look);
    return { state, answer: { code: 'ok', facts: { ...seen(state), fence: state.fence } } };
  }
  if (!force) {
    if (task.owner !== null && !isGone) return no('taken');
    if (task.state === 'backlog') return no('parked');
    // Who takes over what waits in a gate begins no work there.
    if (GATES.includes(task.state)) return take(task, request, look);
    if (setup.waits) return no('blocked');
    const role = task.status === 'open' ? 'coder' : STATES[task.state]?.role;
    if (role === 'coder' && setup.coder !== undefined && setup.coder !== actor) return no('role');
  }
  return take(task, request, look);
}

function renew(task: TaskState, request: RequestOf<'renew'>, look: Look): Stepped {
  const refused = checked(task, request);
  if (refused !== undefined) return refused;
  const { lease } = task;
  if (lease === null || lease.fence !== request.fence) return refuse(task, 'state_invalid', {});
  const state = grant(task, { ...request, lease_ms: lease.ttl_ms }, look);
  return { state, answer: { code: 'ok', facts: { expires_at: request.now + lease.ttl_ms } } };
}

function release(task: TaskState, { actor, force, fence }: RequestOf<'release'>): Stepped {
  if (task.status !== 'in_progress') return refuse(task, 'state_invalid', { status: task.status });
  const refused = checked(task, { fence });
  if (refused !== undefined) return refused;
  if (task.owner !== actor && !force) return refuse(task, 'claim_conflict', { owner: task.owner });
  if (GATES.includes(task.state) && !force) return refuse(task, 'state_invalid', { state: task.state });
  return withAnswer(move(task, { state: 'todo', owner: null }));
}

function reopen(task: TaskState): Stepped {
  if (task.status !== 'closed') return refuse(task, 'state_invalid', { status: task.status });
  return withAnswer(move(task, { state: 'todo', owner: null }));
}

function transition(setup: TaskSetup, task: TaskState, request: RequestOf<'transition'>): Stepped {
  const { version, fence, to, actor } = request;
  const old = checked(task, { version });
  if (old !== undefined) return old;
  const { state: from } = task;
  const mayGo = canGo(from, to);
  if (mayGo && setup.waits && GATED.includes(from) && WORKING.includes(to))
    return refuse(task, 'guard_rejected', {});
  const over = checked(task, { fence });
  if (over !== undefined) return over;
  if (!mayGo) return refuse(task, 'state_invalid', { state: from, status: task.status });
  const status = STATES[to]?.status ?? 'in_progress';
  if (status === 'closed')
    return keptByOwner(task, request, { to, owner: task.owner }) ?? withAnswer(close(task, to));
  if (status === 'open')
    return (
      keptByOwner(task, request, { to, owner: null }) ?? withAnswer(move(task, { state: to, owner: null }))
    );
  const holder = to === 'in_progress' ? setup.coder : undefined;
  // Whoever begins to work on a task that nobody has becomes its owner.
  const owner = holder ?? task.owner ?? (WORKING.includes(to) ? actor : null);
  if (beginsForAnother(setup, task, { owner, actor })) return refuse(task, 'role_conflict', {});
  return keptByOwner(task, request, { to, owner }) ?? withAnswer(move(task, { state: to, owner }));
}

/** An agent ends no claim of another, except that a gate sends on what waits in it. */
function keptByOwner(
  task: TaskState,
  { actor, by_person }: RequestOf<'transition' | 'close'>,
  { to, owner }: { readonly to: string; readonly owner: string | null },
): Stepped | undefined {
  if (task.owner === null || task.owner === actor || by_person === true) return undefined;
  const ends = task.status !== 'closed' && (owner !== task.owner || STATES[to]?.status === 'closed');
  const isVerdict = GATES.includes(task.state) && STATES[task.state]?.next.includes(to) === true;
  return ends && !isVerdict ? refuse(task, 'claim_conflict', { owner: task.owner }) : undefined;
}

/** An agent begins no work for another, except what it had itself; a gate that sends work back may. */
function beginsForAnother(
  { coder }: TaskSetup,
  task: TaskState,
  { owner, actor }: { owner: string | null; actor: string },
): boolean {
  if (owner === null || owner !== coder || owner === actor) return false;
  const begins = task.status === 'open' || task.owner !== owner;
  const gives = task.status === 'in_progress' && task.owner === actor;
  return begins && !gives && !GATES.includes(task.state);
}

function canGo(from: string, to: string): boolean {
  if (STATES[from]?.next.includes(to) === true) return true;
  if (STATES[from]?.status === 'closed') return false;
  return to === 'cancelled' || (to === 'blocked' && from !== 'blocked');
}

function close(task: TaskState, state: string): TaskState {
  return task.status === 'closed' ? task : move(task, { state, owner: task.owner });
}

/** Every change has a version of its own, every owner's time a fence of its own. */
function move(task: TaskState, { state, owner }: { state: string; owner: string | null }): TaskState {
  const status = STATES[state]?.status ?? 'in_progress';
  const fence = task.fence + (owner === task.owner ? 0 : 1);
  return { ...task, status, state, owner, fence, version: task.version + 1 };
}

function grant(
  task: TaskState,
  request: Pick<Request, 'now' | 'steady'> & { readonly lease_ms?: number },
  look: Look,
): TaskState {
  const { lease_ms } = request;
  if (lease_ms === undefined) return task;
  const at = leaseTime(request);
  look(at, lease_ms, 'holder');
  return { ...task, lease: { fence: task.fence, ttl_ms: lease_ms, expires_at: at + lease_ms } };
}

function checked(
  task: TaskState,
  asked: { readonly version?: number | undefined; readonly fence?: number | undefined },
): Stepped | undefined {
  if (asked.version !== undefined && asked.version !== task.version)
    return refuse(task, 'version_conflict', { version: task.version });
  if (asked.fence !== undefined && asked.fence !== task.fence)
    return refuse(task, 'fence_conflict', { fence: task.fence, owner: task.owner });
  return undefined;
}

function refuse(state: TaskState, code: string, facts: Facts): Stepped {
  return { state, answer: { code, facts } };
}

function withAnswer(state: TaskState): Stepped {
  return { state, answer: { code: 'ok', facts: seen(state) } };
}

function seen({ status, state, owner, version }: TaskState): Facts {
  return { status, state, owner, version };
}
