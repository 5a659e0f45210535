import type { Attempt, PickRule } from '#contract/attempt.ts';
import { roleOf, standingState } from '#domain/workflow.ts';
import type { Standing } from '#store/store.ts';
import type { Engine } from './engine.ts';
import type { Assignment, ManagedAgent, WorkPlace } from './work.ts';

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

/** The task still stands where it was when the work began, with the owner that it had then. */
export function isAssigned(
  place: Pick<WorkPlace, 'workflow'>,
  { state, role, hold }: Pick<Assignment, 'state' | 'role' | 'hold'>,
  { task, fence }: Pick<Standing, 'task' | 'fence'>,
): boolean {
  const standing = standingState(place.workflow(), task);
  return standing === state && (roleOf(place.workflow(), standing) ?? '') === role && fence === hold.fence;
}
