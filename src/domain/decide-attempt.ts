import type { Attempt, PickRule } from '#contract/attempt.ts';
import { toIso } from '#kernel/clock.ts';
import { BRANCH_FOLDER } from './attempt-names.ts';
import type { Life } from './task-record.ts';
import type { WorkEvent, WorkEventType } from './work-event.ts';
import type { WorkRefusal } from './work-refusal.ts';

/** What the caller says of an attempt that is to begin. */
export interface AttemptWish {
  readonly id: string;
  readonly name: string;
  readonly path: string;
  readonly target: string;
  readonly base_commit: string;
  readonly agent: string | null;
  readonly port: number | null;
  /** How one of several is picked; the settings say where it is left out. */
  readonly pick?: PickRule | undefined;
}

/** What says whether an attempt may begin on a task, and as which one. */
export interface AttemptStartFacts {
  readonly task: { readonly id: string } & Pick<Life, 'status' | 'state'>;
  /** The id of the attempt that has its name, or its id. */
  readonly named: string | undefined;
  /** The id of another attempt with its port whose folder is there. */
  readonly port_of: string | undefined;
  /** The number of the task's newest attempt; 0 where there is none. */
  readonly newest: number;
}

type AttemptPlan = { readonly attempt: Attempt; readonly events: readonly WorkEvent[] };

export function decideAttemptStart(
  { task, named, port_of, newest }: AttemptStartFacts,
  wish: AttemptWish,
  now: number,
):
  | ({ readonly outcome: 'save' } & AttemptPlan)
  | Extract<WorkRefusal, { outcome: 'task_closed' | 'name_taken' | 'port_taken' }> {
  const { id: task_id, status, state } = task;
  if (status === 'closed') return { outcome: 'task_closed', task: { id: task_id, status, state } };
  const { id, name, path, target, base_commit, agent, port, pick = null } = wish;
  if (named !== undefined) return { outcome: 'name_taken', id, name, attempt: named };
  const taken = refusePort({ id, port }, port_of);
  if (taken !== undefined) return taken;
  const attempt: Attempt = {
    id,
    task_id,
    number: newest + 1,
    name,
    branch: toBranch(name),
    path,
    target,
    base_commit,
    head_commit: null,
    agent,
    state: 'active',
    port,
    pick,
    strayed: null,
    merge_commit: null,
    created_at: toIso(now),
    finished_at: null,
    cleanup_at: null,
    removed_at: null,
  };
  return { outcome: 'save', attempt, events: [tell('attempt.started', attempt)] };
}

/** The branch of the attempt of this name. */
export function toBranch(name: string): string {
  return `${BRANCH_FOLDER}${name}`;
}

/** The ports of a folder that is gone are free. Undefined where no other attempt has them. */
export function refusePort(
  { id, port }: Pick<Attempt, 'id' | 'port'>,
  port_of: string | undefined,
): Extract<WorkRefusal, { outcome: 'port_taken' }> | undefined {
  if (port === null || port_of === undefined) return undefined;
  return { outcome: 'port_taken', id, port, attempt: port_of };
}

export type AttemptDecision =
  | { readonly outcome: 'unchanged' }
  | ({
      readonly outcome: 'save';
      /** It wants its ports, which must be free: see `refusePort`. */
      readonly takes_port: boolean;
    } & AttemptPlan)
  | Extract<WorkRefusal, { outcome: 'nothing_merged' }>;

/** What is left out of `wished`, or undefined in it, stays. */
export function decideAttemptChange(
  before: Attempt,
  wished: Readonly<Record<string, unknown>>,
  now: number,
): AttemptDecision {
  const changes = Object.fromEntries(Object.entries(wished).filter(([, value]) => value !== undefined));
  const changed: Attempt = { ...before, ...changes };
  const isActive = changed.state === 'active';
  const finished_at = isActive ? null : (before.finished_at ?? toIso(now));
  // No process looks after the folder of an attempt that is over.
  const attempt: Attempt = { ...changed, finished_at, strayed: isActive ? changed.strayed : null };
  if (JSON.stringify(attempt) === JSON.stringify(before)) return { outcome: 'unchanged' };
  // What is called merged without a commit in its target would close a task whose work is nowhere.
  if (attempt.state === 'merged' && attempt.merge_commit === null)
    return { outcome: 'nothing_merged', attempt };
  const takes_port =
    attempt.removed_at === null && (attempt.port !== before.port || before.removed_at !== null);
  const events = listTypes(before, attempt).map((type) => tell(type, attempt));
  return { outcome: 'save', attempt, takes_port, events };
}

function listTypes(before: Attempt, after: Attempt): WorkEventType[] {
  const types: WorkEventType[] = [];
  if (after.state === 'active' && after.strayed !== before.strayed)
    types.push(after.strayed === null ? 'attempt.returned' : 'attempt.strayed');
  if (before.state === 'active' && after.state !== 'active') types.push('attempt.finished');
  if (before.removed_at === null && after.removed_at !== null) types.push('attempt.removed');
  return types;
}

function tell(type: WorkEventType, attempt: Attempt): WorkEvent {
  return { type, task_id: attempt.task_id, data: { attempt } };
}
