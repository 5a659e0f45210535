import type { Attempt, Run } from '#contract/attempt.ts';
import type { Task, Transition } from '#contract/task.ts';
import { isEnded } from './run-states.ts';
import { kindOf, standingState, type ResolvedWorkflow } from './workflow.ts';

/** All that decides whether the work on a task stands still. No process is at work on it. */
export interface HaltedFacts {
  readonly task: Pick<Task, 'status' | 'state' | 'assignee' | 'archived_at' | 'error_annotation'>;
  /** Its attempts that were neither merged nor given up, and whose folders are on this machine. */
  readonly attempts: readonly Pick<Attempt, 'id' | 'agent'>[];
  /** Its runs, the oldest first. */
  readonly runs: readonly Pick<Run, 'attempt_id' | 'state' | 'fence' | 'created_at'>[];
  /** The number of its claim. */
  readonly fence: number;
  /** Its moves, the oldest first; the last one and the last that began work are enough. */
  readonly moves: readonly Pick<Transition, 'from_status' | 'to_status' | 'triggered_by' | 'created_at'>[];
}

export interface Halted {
  readonly agent: string;
  /** `came_back`: the task was moved back to its work. `lost_claim`: it was deleted and restored during its run. */
  readonly why: 'came_back' | 'lost_claim';
}

/**
 * A task in work by an agent of which no run is open, where no process will start one: a person rejected the work, or took
 * it out of a merge that failed, while no process stayed to start the agent again; or its run lost the task, which is
 * the agent's again. An agent that works without `forge run` keeps what it claimed: the task was begun after its last
 * run, or never had one; or the agent moved the task itself.
 */
export function findHalted(workflow: ResolvedWorkflow, facts: HaltedFacts): Halted | undefined {
  const { task, attempts, runs, moves, fence } = facts;
  const { assignee: agent, archived_at, error_annotation } = task;
  if (kindOf(workflow, standingState(workflow, task)) !== 'active' || agent === null) return undefined;
  // What is noted on it says itself what it waits for.
  if (archived_at !== undefined || error_annotation !== undefined) return undefined;
  const [attempt, ...others] = attempts;
  if (attempt === undefined || others.length > 0 || attempt.agent !== agent) return undefined;
  const entry = moves.at(-1);
  if (entry === undefined || entry.triggered_by.startsWith('agent:')) return undefined;
  const begun = moves.findLast((move) => move.from_status === 'open' && move.to_status === 'in_progress');
  const run = runs.findLast(({ attempt_id }) => attempt_id === attempt.id);
  if (run === undefined || runs.some(({ state }) => !isEnded(state))) return undefined;
  if (run.created_at < (begun?.created_at ?? '')) return undefined;
  if (run.created_at < entry.created_at) return { agent, why: 'came_back' };
  return run.fence !== null && run.fence !== fence ? { agent, why: 'lost_claim' } : undefined;
}
