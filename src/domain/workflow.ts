import type { Status } from '#contract/task.ts';
import type { HookPhase, StateKind, Workflow, WorkflowHook, WorkflowState } from '#contract/workflow.ts';
import { DEFAULT_WORKFLOW } from './default-workflow.ts';
import { isCancelling } from './states.ts';

/** The role that an active state binds where it names none. */
export const ASSIGNEE_ROLE = 'assignee';

/** Every action there is, and the phases it may stand in. What one does is the engine's business. */
export const ACTION_PHASES = {
  dependency_gate: ['before_exit'],
  require_role: ['before_exit'],
  check_retry_budget: ['after_enter'],
  cascade: ['after_enter'],
  cascade_on_review: ['after_enter'],
  dispatch_role_agent: ['on_enter', 'after_enter'],
  run_ci_steps: ['on_enter'],
  run_merge: ['on_enter'],
  cleanup_workspace: ['on_exit', 'on_enter'],
  schedule_workspace_cleanup: ['on_exit', 'on_enter'],
} as const satisfies Readonly<Record<string, readonly HookPhase[]>>;
export type ActionName = keyof typeof ACTION_PHASES;

/** Actions that lead on to another state, and so need `to`. */
export const CASCADING_ACTIONS: ReadonlySet<string> = new Set(['cascade', 'cascade_on_review']);

/** A workflow with every question answered that the rest of Forge asks of it. It was validated before. */
export interface ResolvedWorkflow {
  readonly definition: Workflow;
  readonly states: ReadonlyMap<string, WorkflowState>;
  readonly roles: ReadonlySet<string>;
  /** Where tasks begin. */
  readonly initial: string;
  /** Where a claim leads when nothing says more. */
  readonly in_progress: string;
  /** Where a close leads. */
  readonly closed: string;
  readonly cancelled: string;
  readonly blocked: string | undefined;
  /** Where a task is parked; undefined where the workflow has no such state. */
  readonly parked: string | undefined;
  /** All states that do. */
  readonly parked_states: ReadonlySet<string>;
}

/** For a definition that validation has passed. */
export function resolveWorkflow(definition: Workflow): ResolvedWorkflow {
  const states = new Map(definition.states.map((state) => [state.name, state]));
  const first = (kind: StateKind): string | undefined =>
    definition.states.find((state) => state.kind === kind)?.name;
  const cancelled = definition.cancellation_state ?? 'cancelled';
  const blocked = definition.blocked_state ?? 'blocked';
  const initial = first('initial') ?? '';
  const closed =
    definition.status_states?.closed ??
    definition.states.find((state) => state.kind === 'terminal' && state.name !== cancelled)?.name ??
    cancelled;
  return {
    definition,
    states,
    roles: new Set([...(definition.roles ?? []), ASSIGNEE_ROLE]),
    initial,
    in_progress:
      definition.status_states?.in_progress ?? firstActive(states, initial) ?? first('active') ?? '',
    closed,
    cancelled,
    blocked: states.has(blocked) ? blocked : undefined,
    parked: first('backlog'),
    parked_states: new Set(definition.states.flatMap(({ name, kind }) => (kind === 'backlog' ? name : []))),
  };
}

function firstActive(states: ReadonlyMap<string, WorkflowState>, from: string): string | undefined {
  return states.get(from)?.next?.find((name) => states.get(name)?.kind === 'active');
}

export const DEFAULT_RESOLVED: ResolvedWorkflow = resolveWorkflow(DEFAULT_WORKFLOW);

/** Undefined for a state that this workflow does not know: it was renamed, or came from elsewhere. */
export function kindOf(workflow: ResolvedWorkflow, state: string): StateKind | undefined {
  return workflow.states.get(state)?.kind;
}

/** It says that the work was done, and not that nobody wants it any more. */
export function endsAsDone(workflow: ResolvedWorkflow, to: string): boolean {
  return kindOf(workflow, to) === 'terminal' && to !== workflow.cancelled;
}

/** Whether a task in this state is merged: the only way on is the merge itself. */
export function isMerging(workflow: ResolvedWorkflow, state: string): boolean {
  return (workflow.states.get(state)?.on_enter ?? []).some(({ action }) => action === 'run_merge');
}

/**
 * Where a task stands. One whose state the workflow does not know, or that does not mean the status, stands where its
 * status says: lines of other tools name no state, a person may change the status alone, and a workflow may have changed
 * under a task. The record keeps its own word, so that a clone with the other workflow finds it again.
 */
export function standingState(
  workflow: ResolvedWorkflow,
  life: {
    readonly status: Status;
    readonly state: string;
    readonly close_reason?: string | null | undefined;
  },
): string {
  const kind = kindOf(workflow, life.state);
  if (kind !== undefined && statusOfKind(kind) === life.status) return life.state;
  switch (life.status) {
    case 'open':
      return workflow.initial;
    case 'in_progress':
      return workflow.in_progress;
    case 'closed':
      return closingState(workflow, life.close_reason ?? '');
  }
}

/** Where a close ends. */
export function closingState(workflow: ResolvedWorkflow, reason: string): string {
  return isCancelling(reason) ? workflow.cancelled : workflow.closed;
}

export function statusOfKind(kind: StateKind): Status {
  switch (kind) {
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

export function isParked(workflow: ResolvedWorkflow, state: string): boolean {
  return kindOf(workflow, state) === 'backlog';
}

/** The role that works in a state. */
export function roleOf(workflow: ResolvedWorkflow, state: string): string | undefined {
  const found = workflow.states.get(state);
  if (found === undefined) return undefined;
  return found.role ?? (found.kind === 'active' ? ASSIGNEE_ROLE : undefined);
}

/**
 * Where a claim leads: the active state whose role the claimer was given, else the workflow's usual one. Whoever takes
 * over a task in work goes on where it stands.
 */
export function claimTarget(
  workflow: ResolvedWorkflow,
  task: { readonly status: Status; readonly state: string },
  holds: (role: string) => boolean,
): string {
  const from = standingState(workflow, task);
  if (task.status === 'in_progress') return from;
  const active = (workflow.states.get(from)?.next ?? []).filter(
    (name) => kindOf(workflow, name) === 'active',
  );
  const own = active.find((name) => holds(roleOf(workflow, name) ?? ''));
  return (
    own ??
    (active.includes(workflow.in_progress) ? workflow.in_progress : (active[0] ?? workflow.in_progress))
  );
}

export type EdgeKind = 'edge' | 'cancel' | 'block' | 'close' | 'release' | 'reopen';

/**
 * How a task may go from one state to another; undefined when it may not. Cancelling, blocking and closing are possible
 * from every state but a terminal one without being drawn, and whoever works on a task may give it back; the one way
 * out of a terminal state is to reopen.
 */
export function findEdge(workflow: ResolvedWorkflow, from: string, to: string): EdgeKind | undefined {
  const state = workflow.states.get(from);
  const target = workflow.states.get(to);
  if (state === undefined || target === undefined) return undefined;
  if (state.kind === 'terminal') return to === workflow.initial ? 'reopen' : undefined;
  if (to === workflow.cancelled) return 'cancel';
  if (state.next?.includes(to) === true) return 'edge';
  if (to === workflow.blocked && to !== from) return 'block';
  if (to === workflow.initial && state.kind === 'active') return 'release';
  return to === workflow.closed ? 'close' : undefined;
}

/** Where a task may go from here, drawn edges first. */
export function listEdges(workflow: ResolvedWorkflow, from: string): { to: string; kind: EdgeKind }[] {
  const drawn = workflow.states.get(from)?.next ?? [];
  const others = [...workflow.states.keys()].filter((name) => name !== from && !drawn.includes(name));
  return [...drawn, ...others].flatMap((to) => {
    const kind = findEdge(workflow, from, to);
    return kind === undefined ? [] : [{ to, kind }];
  });
}

/** Hooks of a state in a phase, for moves of this trigger (`agent:x`, `user:x`, `system`). */
export function hooksFor(
  workflow: ResolvedWorkflow,
  state: string,
  at: {
    readonly phase: HookPhase;
    readonly triggered_by: string;
    /** Whoever asks, an agent will work on the task: its guards are those of agents. */
    readonly for_agent?: boolean | undefined;
  },
): readonly WorkflowHook[] {
  const found = workflow.states.get(state);
  if (found === undefined) return [];
  const hooks = found[at.phase] ?? [];
  const budget: WorkflowHook = { action: 'check_retry_budget' };
  const hasBudget = at.phase === 'after_enter' && found.gate_config?.max_rejections !== undefined;
  const all = hasBudget && !hooks.some(({ action }) => action === budget.action) ? [budget, ...hooks] : hooks;
  const isGuard = at.phase === 'before_exit' && at.for_agent === true;
  return all.filter(
    ({ audience }) => isMeant(audience, at.triggered_by) || (isGuard && audience === 'agent_only'),
  );
}

function isMeant(audience: WorkflowHook['audience'], triggeredBy: string): boolean {
  switch (audience) {
    case undefined:
    case 'all':
      return true;
    case 'agent_only':
      return (
        triggeredBy.startsWith('agent:') || triggeredBy === 'system' || triggeredBy.startsWith('system:')
      );
    case 'user_only':
      return triggeredBy.startsWith('user:');
  }
}
