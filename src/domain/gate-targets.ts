import type { StateKind } from '#contract/workflow.ts';
import { kindOf, roleOf, type ResolvedWorkflow } from './workflow.ts';

/** Where a gate leads, by the kinds of the states behind it: no name means anything. */

/** Back to work. */
export function rejectionTarget(workflow: ResolvedWorkflow, gate: string): string | undefined {
  return nextOf(workflow, gate, ['active']);
}

/** On: to the next gate, or to the end. */
export function passTarget(workflow: ResolvedWorkflow, gate: string): string | undefined {
  return nextOf(workflow, gate, ['gate', 'terminal']);
}

/** Aside: what went wrong there is nobody's rejection. */
export function failureTarget(workflow: ResolvedWorkflow, gate: string): string | undefined {
  return nextOf(workflow, gate, ['custom', 'active']);
}

/** The gate that work goes to when it is done; undefined where there is none. */
export function submitTarget(workflow: ResolvedWorkflow, active: string): string | undefined {
  return nextOf(workflow, active, ['gate']) ?? nextOf(workflow, active, ['active', 'terminal']);
}

/** An active state that leads on to another one, and not to a gate, is for those who plan. */
export function isPlanning(workflow: ResolvedWorkflow, state: string): boolean {
  const next = submitTarget(workflow, state);
  return next !== undefined && kindOf(workflow, next) === 'active';
}

/** The roles of those who plan. */
export function listPlanners(workflow: ResolvedWorkflow): string[] {
  return [...workflow.states.keys()]
    .filter((name) => kindOf(workflow, name) === 'active' && isPlanning(workflow, name))
    .flatMap((name) => roleOf(workflow, name) ?? []);
}

function nextOf(workflow: ResolvedWorkflow, from: string, kinds: readonly StateKind[]): string | undefined {
  const next = workflow.states.get(from)?.next ?? [];
  for (const kind of kinds) {
    const found = next.find((name) => kindOf(workflow, name) === kind && name !== workflow.cancelled);
    if (found !== undefined) return found;
  }
  return undefined;
}
