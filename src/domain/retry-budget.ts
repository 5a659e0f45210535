import type { Transition } from '#contract/task.ts';
import type { ResolvedWorkflow } from './workflow.ts';

/** What of a move in the log decides about budgets. */
export type BudgetMove = Pick<
  Transition,
  'from_state' | 'to_state' | 'from_status' | 'to_status' | 'triggered_by'
>;

/**
 * A person who takes a task out of the blocked state, or reopens it, grants a new budget: what failed before counts no
 * more. An agent, and Forge itself, grant nothing by the same move.
 */
export function grantsBudget({ blocked }: Pick<ResolvedWorkflow, 'blocked'>, move: BudgetMove): boolean {
  if (!move.triggered_by.startsWith('user:') || move.to_status === 'closed') return false;
  // A change of the owner is logged too, and moves nothing.
  const unblocks = move.from_state === blocked && move.to_state !== blocked;
  return unblocks || move.from_status === 'closed';
}

/** How often each gate said no, of moves since a person last granted a budget. */
export function countRejections(
  moves: readonly Pick<Transition, 'from_state' | 'rejection'>[],
): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { from_state, rejection } of moves)
    if (rejection) counts.set(from_state, (counts.get(from_state) ?? 0) + 1);
  return counts;
}
