import { CASCADING_ACTIONS } from './workflow.ts';
import { type FaultReport } from './validate-workflow-report.ts';
import { type DraftNames, nameOf } from './validate-workflow-rules.ts';
import type { DraftState } from './validate-workflow-shape.ts';

/** States that no task could come to, and states that no task could leave. */
export function checkGraph(names: DraftNames, report: FaultReport): void {
  const states = [...names.states.values()];
  for (const state of states) {
    if (!isDeadEnd(state)) continue;
    const message = `nothing leads on from ${nameOf(state)}, and it is not terminal`;
    report.add(['states', state.index, 'next'], message, 'Name the states that follow, or make it terminal');
  }
  const reached = findReached(states, names);
  if (reached === undefined) return;
  for (const state of states) {
    if (reached.has(state)) continue;
    const hint = `Name it in the next of another state, or take it out`;
    report.add(['states', state.index], `nothing leads to ${nameOf(state)}`, hint);
  }
}

/** Cancelling, blocking and closing are possible everywhere; they are no way on. A wrong name was meant as one. */
function isDeadEnd({ kind, next, name }: DraftState): boolean {
  if (kind === undefined || kind === 'terminal' || next === undefined) return false;
  return next.every((target) => target.name === name);
}

/**
 * Tasks are created in the initial state and in parked ones, and go on by edges, by cascades, and from every state but
 * a terminal one to where a task is cancelled, blocked or closed. Reopening leads to the initial state, which is
 * reached already. Undefined where the workflow has no beginning: everything would be out of reach.
 */
function findReached(states: readonly DraftState[], names: DraftNames): ReadonlySet<DraftState> | undefined {
  if (!states.some(({ kind }) => kind === 'initial')) return undefined;
  const begin = states.filter(({ kind }) => kind === 'initial' || kind === 'backlog');
  const reached = new Set<DraftState>(begin);
  // A set hands out what is added while it is walked through.
  for (const state of reached) {
    for (const target of listTargets(state, names)) reached.add(target);
  }
  return reached;
}

function listTargets(state: DraftState, { states, cancelled, blocked, closed }: DraftNames): DraftState[] {
  if (state.kind === 'terminal') return [];
  const cascades = state.hooks
    .filter(({ action }) => CASCADING_ACTIONS.has(action))
    .map(({ to }) => to ?? '');
  const drawn = [...(state.next ?? []).map(({ name }) => name), ...cascades].map((name) => states.get(name));
  return [...drawn, cancelled, blocked, closed].filter((target) => target !== undefined);
}
