import type { Attempt, PickRule } from '#contract/attempt.ts';
import { roleOf, standingState } from '#domain/workflow.ts';
import type { Standing } from '#store/store.ts';
import type { Engine } from './engine.ts';
import { findHoldLoss, type Assignment, type ManagedAgent, type WorkPlace } from './work.ts';

/** What somebody wants who has a task worked on several times at once. */
export interface SideWishes {
  /** Taken in turn. */
  readonly agents: readonly string[];
  readonly count: number;
  /** What the settings say where it is left out. */
  readonly pick?: PickRule | undefined;
}

/** One attempt and who works on it. */
export interface Side {
  readonly attempt: Attempt;
  readonly agent: ManagedAgent;
}

/** What the workshop lends. */
export interface SideHands {
  readonly place: WorkPlace;
  readonly engine: () => Engine;
  /** What the runs do differently from the profiles of their agents. */
  readonly overrides: Engine['overrides'];
}

/** The task still stands where it was when the work began, with the owner that it had then; false for a deleted one. */
export function isAssigned(
  place: Pick<WorkPlace, 'workflow'>,
  { state, role, hold }: Pick<Assignment, 'state' | 'role' | 'hold'>,
  now: Pick<Standing, 'task' | 'fence'> | undefined,
): boolean {
  if (now === undefined || findHoldLoss(hold, now) !== undefined) return false;
  const standing = standingState(place.workflow(), now.task);
  return standing === state && (roleOf(place.workflow(), standing) ?? '') === role;
}
