import type { StateKind } from '#contract/workflow.ts';
import type { PathStep } from './locate-json.ts';
import { type FaultReport, quote } from './validate-workflow-report.ts';
import type { DraftHook, DraftState, WorkflowDraft } from './validate-workflow-shape.ts';
import { ACTION_PHASES, ASSIGNEE_ROLE, CASCADING_ACTIONS } from './workflow.ts';

/** A draft by its names, with the states that the rest of Forge will ask for. */
export interface DraftNames {
  /** The first of each name. */
  readonly states: ReadonlyMap<string, DraftState>;
  readonly cancelled: DraftState | undefined;
  readonly blocked: DraftState | undefined;
  readonly closed: DraftState | undefined;
}

export function nameStates(draft: WorkflowDraft): DraftNames {
  const states = new Map<string, DraftState>();
  for (const state of draft.states) {
    if (state.name !== undefined && !states.has(state.name)) states.set(state.name, state);
  }
  const cancelled = states.get(draft.cancellation_state ?? 'cancelled');
  const ends = [...states.values()].filter(({ kind }) => kind === 'terminal');
  return {
    states,
    cancelled,
    blocked: states.get(draft.blocked_state ?? 'blocked'),
    // The same choice as in resolveWorkflow.
    closed:
      draft.closed === undefined
        ? (ends.find((state) => state !== cancelled) ?? cancelled)
        : states.get(draft.closed),
  };
}

/** What is wrong with single states, and with the names they use. */
export function checkRules(draft: WorkflowDraft, names: DraftNames, report: FaultReport): void {
  checkKinds(draft, report);
  if (draft.roles?.has(ASSIGNEE_ROLE) === true)
    report.add(['roles'], `${quote(ASSIGNEE_ROLE)} is a role without being declared`, 'Leave it out');
  checkReferences(draft, names, report);
  for (const state of draft.states) {
    const first = names.states.get(state.name ?? '');
    if (first !== undefined && first !== state) {
      const message = `${quote(first.name ?? '')} is the name of states[${first.index}] too`;
      report.add(['states', state.index, 'name'], message);
    }
    checkRole(state, draft, report);
    checkEdges(state, names, report);
    checkGate(state, names, report);
    for (const hook of state.hooks) checkHook(hook, state, names, report);
  }
}

/** An unreadable kind may be the one that is missing, so it is named alone. */
function checkKinds({ states }: WorkflowDraft, report: FaultReport): void {
  if (states.length === 0) return;
  const unsure = states.some(({ kind }) => kind === undefined);
  const having = (kind: StateKind): readonly DraftState[] => states.filter((state) => state.kind === kind);
  const [first, second] = having('initial');
  if (second !== undefined) {
    const list = having('initial').map(nameOf).join(', ');
    const message = `${having('initial').length} states have the kind "initial" (${list}); a workflow has exactly one`;
    report.add(['states', second.index, 'kind'], message);
  }
  if (unsure) return;
  if (first === undefined)
    report.add(['states'], 'no state has the kind "initial"; a workflow has exactly one');
  if (having('active').length === 0)
    report.add(['states'], 'no state has the kind "active": nothing could be worked on');
  if (having('terminal').length === 0)
    report.add(['states'], 'no state has the kind "terminal": nothing could end');
}

function checkReferences(draft: WorkflowDraft, names: DraftNames, report: FaultReport): void {
  const { cancelled, blocked } = names;
  const get = (steps: readonly PathStep[], name: string | undefined): DraftState | undefined => {
    const state = name === undefined ? undefined : names.states.get(name);
    if (name !== undefined && state === undefined) report.add(steps, unknownState(name));
    return state;
  };
  get(['cancellation_state'], draft.cancellation_state);
  get(['blocked_state'], draft.blocked_state);
  if (draft.cancellation_state === undefined && cancelled === undefined) {
    const message =
      'is missing, and no state is called "cancelled": a task that is cancelled must end somewhere';
    report.add(['cancellation_state'], message, 'Name a terminal state');
  }
  refuseKind(
    cancelled,
    ['cancellation_state'],
    {
      fits: (kind) => kind === 'terminal',
      why: 'a cancelled task ends in a terminal state',
    },
    report,
  );
  refuseKind(
    blocked,
    ['blocked_state'],
    {
      fits: (kind) => kind !== 'terminal' && kind !== 'initial',
      why: 'a task that waits for a person is neither new nor at its end',
    },
    report,
  );
  refuseKind(
    get(['status_states', 'closed'], draft.closed),
    ['status_states', 'closed'],
    {
      fits: (kind) => kind === 'terminal',
      why: 'a closed task ends in a terminal state',
    },
    report,
  );
  refuseKind(
    get(['status_states', 'in_progress'], draft.in_progress),
    ['status_states', 'in_progress'],
    {
      fits: (kind) => kind === 'active',
      why: 'a claimed task is worked on in an active state',
    },
    report,
  );
}

function refuseKind(
  state: DraftState | undefined,
  steps: readonly PathStep[],
  { fits, why }: { readonly fits: (kind: StateKind) => boolean; readonly why: string },
  report: FaultReport,
): void {
  if (state?.kind === undefined || fits(state.kind)) return;
  report.add(steps, `${nameOf(state)} has the kind "${state.kind}", and ${why}`);
}

function checkRole(state: DraftState, { roles }: WorkflowDraft, report: FaultReport): void {
  const { role, kind } = state;
  const steps = ['states', state.index, 'role'];
  if (role === undefined) return;
  if (role === ASSIGNEE_ROLE) {
    if (kind === undefined || kind === 'active') return;
    const message = `${quote(role)} is the role of active states only, and ${nameOf(state)} has the kind "${kind}"`;
    report.add(steps, message);
  } else if (roles?.has(role) === false)
    report.add(steps, `no role is called ${quote(role)}`, 'Add it to roles');
}

function checkEdges(state: DraftState, { states }: DraftNames, report: FaultReport): void {
  const { next = [], kind } = state;
  const steps = ['states', state.index, 'next'];
  if (kind === 'terminal' && next.length > 0) {
    const hint = '`forge task reopen` leads back to the initial state, without an edge';
    report.add(steps, `${nameOf(state)} is terminal: no edge leads out of it`, hint);
  }
  const seen = new Set<string>();
  for (const { name, steps: place } of next) {
    if (seen.has(name)) report.add(place, `${quote(name)} stands here twice`);
    else if (!states.has(name)) report.add(place, unknownState(name));
    else if (name === state.name) report.add(place, `an edge from ${quote(name)} to itself`);
    seen.add(name);
  }
}

function checkGate(state: DraftState, { blocked }: DraftNames, report: FaultReport): void {
  const steps = ['states', state.index, 'gate_config'];
  if (state.has_gate_config && state.kind !== undefined && state.kind !== 'gate')
    report.add(steps, `only a gate has one, and ${nameOf(state)} has the kind "${state.kind}"`);
  else if (state.max_rejections !== undefined && blocked === undefined) {
    const message = 'a task whose budget is spent waits in the blocked state, and there is none';
    report.add([...steps, 'max_rejections'], message, 'Name one in blocked_state');
  }
}

function checkHook(hook: DraftHook, state: DraftState, names: DraftNames, report: FaultReport): void {
  const { action, steps, phase } = hook;
  const phases = phasesOf(action);
  if (phases === undefined) {
    const hint = `Known are ${Object.keys(ACTION_PHASES).join(', ')}`;
    report.add([...steps, 'action'], `no action is called ${quote(action)}`, hint);
    return;
  }
  if (!phases.includes(phase))
    report.add(
      [...steps, 'action'],
      `${action} cannot stand in ${phase}`,
      `It stands in ${phases.join(' or ')}`,
    );
  if (action === 'check_retry_budget' && state.max_rejections === undefined)
    report.add([...steps, 'action'], `${action} has no budget to check`, 'Set gate_config.max_rejections');
  if (CASCADING_ACTIONS.has(action)) checkCascade(hook, state, names, report);
  else if (hook.has_to) report.add([...steps, 'to'], `${action} leads nowhere, so it has no "to"`);
}

function checkCascade(hook: DraftHook, state: DraftState, names: DraftNames, report: FaultReport): void {
  const { action, to, has_to } = hook;
  const steps = [...hook.steps, 'to'];
  if (!has_to) report.add(steps, `is missing: ${action} leads to a state`);
  if (state.kind === 'terminal')
    report.add(hook.steps, `${nameOf(state)} is terminal: no cascade leads out of it`);
  if (to === undefined) return;
  const target = names.states.get(to);
  if (target === undefined) report.add(steps, unknownState(to));
  else if (state.kind !== 'terminal' && !isDrawn(state, target, names))
    report.add(
      steps,
      `no edge leads from ${nameOf(state)} to ${quote(to)}`,
      `Add it to the next of ${nameOf(state)}`,
    );
}

/** A cascade follows an edge like any other move. One to itself is a circle, which is said elsewhere. */
function isDrawn(state: DraftState, target: DraftState, { cancelled, blocked }: DraftNames): boolean {
  if (state.next === undefined || target.name === state.name) return true;
  return target === cancelled || target === blocked || state.next.some(({ name }) => name === target.name);
}

function phasesOf(action: string): readonly string[] | undefined {
  return Object.hasOwn(ACTION_PHASES, action)
    ? ACTION_PHASES[action as keyof typeof ACTION_PHASES]
    : undefined;
}

function unknownState(name: string): string {
  return `no state is called ${quote(name)}`;
}

export function nameOf({ name, index }: DraftState): string {
  return name === undefined ? `states[${index}]` : quote(name);
}
