import type { Actor } from './actor.ts';
import type { TaskRecord } from './task-record.ts';
import type { ResolvedWorkflow } from './workflow.ts';

/** What a change is called in the feed, and what more is known of it. */
export interface Happening {
  readonly type: string;
  readonly changed: readonly string[];
  readonly reason?: string | null;
  /** Of a move out of a state that the workflow does not have; otherwise where the task stood by it. */
  readonly from_state?: string;
  readonly rejection?: boolean;
  /** Where it was not the writer who wanted it. */
  readonly triggered_by?: string;
  readonly more?: Readonly<Record<string, unknown>>;
  /** The writer said `--force`: it may also end the claim of another. */
  readonly forced?: boolean;
  /** It is a claim, given by `decideClaim`. */
  readonly claimed?: boolean;
}

/** A write that was decided: the record after it, and what feed and log say of it. */
export interface TaskPlan {
  readonly outcome: 'save';
  readonly after: TaskRecord;
  readonly happening: Happening;
}

/** A task as one transaction sees it. */
export interface SeenTask {
  readonly record: TaskRecord;
  readonly version: number;
  /** Of its newest claim. */
  readonly fence: number;
}

/** Who decides, when, and by which workflow. */
export interface Deciding {
  readonly actor: Pick<Actor, 'kind' | 'name'>;
  readonly now: number;
  readonly workflow: ResolvedWorkflow;
}

/** An attempt that was neither merged nor given up. */
export interface UnfinishedAttempt {
  readonly id: string;
  readonly name: string;
}
