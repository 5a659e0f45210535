import type { Approval, Attempt, Merge, Review, Run, RunState, StepResult } from '#contract/attempt.ts';

/** That something was said to an agent; what it says is for the agent alone. */
export interface SentMessage {
  readonly attempt_id: string;
  readonly author: string;
  readonly created_at: string;
}

/** What the events of attempts carry; each has those that its name says. */
export interface WorkData {
  readonly attempt?: Attempt;
  readonly run?: Run;
  readonly from?: RunState | null;
  readonly approval?: Approval;
  readonly review?: Review;
  readonly step?: StepResult;
  readonly merge?: Merge;
  readonly message?: SentMessage;
  /** A person gave the verdict in place of the holder of the gate. */
  readonly forced?: true;
}

/** What the feed tells of one change of an attempt, or of what belongs to it. */
export interface WorkEvent {
  readonly type: WorkEventType;
  readonly task_id: string;
  readonly data: WorkData;
}

export type WorkEventType =
  | 'attempt.started'
  | 'attempt.finished'
  | 'attempt.removed'
  | 'attempt.returned'
  | 'attempt.strayed'
  | 'run.state_changed'
  | 'attempt.message_sent'
  | 'run.stop_asked'
  | 'run.approval_requested'
  | 'run.approval_given'
  | 'run.approval_forgotten'
  | 'review.started'
  | 'review.step_finished'
  | 'review.finished'
  | 'review.cleared'
  | 'review.verdict_asked'
  | 'merge.queued'
  | 'merge.started'
  | 'merge.finished';
