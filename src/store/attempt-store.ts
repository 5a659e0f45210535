import type {
  AlwaysRule,
  Approval,
  Attempt,
  Merge,
  PickRule,
  Review,
  Run,
  StepResult,
} from '#contract/attempt.ts';
import type { ApprovalWish } from '#domain/decide-approval.ts';
import type { AttemptWish } from '#domain/decide-attempt.ts';
import type { MergeEnding, MergeWish } from '#domain/decide-merge.ts';
import type { ReviewEnding } from '#domain/decide-review-end.ts';
import type { KnownOfRun, RunStep, RunWish } from '#domain/decide-run.ts';
import type { Loss } from '#domain/run-hold.ts';
import type { DaemonStore } from './daemon-store.ts';
import type { Writer } from './store.ts';

/**
 * Attempts, runs, reviews and merges. Each method is exactly one transaction and writes the event that tells of it,
 * with the row after it. Ids may be shortened to any unambiguous beginning; throws not_found, ambiguous_id and the
 * store's own troubles, as TaskStore does. What is refused is decided in the domain, and thrown as `work-refusal.ts` tells it.
 */
export interface AttemptStore extends DaemonStore {
  /**
   * Throws already_exists with `details.name` where the name is another's, so that the caller widens it, and with
   * `details.port` where the ports are those of an attempt whose folder is there. Refused for a closed task; throws
   * fence_conflict for a claim that is over.
   */
  startAttempt(attempt: NewAttempt, by: Writer): Promise<Attempt>;
  /**
   * Idempotent. Tells `attempt.finished` when the state leaves active, `attempt.removed` when the folder is gone,
   * `attempt.strayed` when HEAD of its folder stands elsewhere than it was known to, `attempt.returned` when it is back;
   * no event for the rest. Throws already_exists for ports as above. Refused for one that is to be merged and names no
   * commit of its target.
   */
  changeAttempt(change: AttemptChange, by: Writer): Promise<Attempt>;
  /** Also by its whole name. */
  getAttempt(ref: string): Promise<Attempt>;
  /** The oldest first. */
  listAttempts(query: AttemptQuery): Promise<Attempt[]>;

  /**
   * Throws fence_conflict where the task is not the caller's any more. Refused while another run of the same attempt has
   * not ended: two agents never work in one folder.
   */
  createRun(run: NewRun, by: Writer): Promise<Run>;
  /**
   * Refused is a move that the states of runs do not know, or from another state than `from`. What a run
   * that ends still asked leave for has expired.
   */
  moveRun(move: RunMove, by: Writer): Promise<Run>;
  /** What became known of a run meanwhile; no event. */
  noteRun(note: RunNote): Promise<void>;
  getRun(ref: string): Promise<Run>;
  /** The oldest first; with `limit` the newest ones. */
  listRuns(query: RunQuery): Promise<Run[]>;
  /** Runs that have not ended and whose task is not theirs any more. The task may be deleted. */
  listLostRuns(query: { task_id: string }): Promise<Run[]>;
  /** For its watcher to find. Idempotent. Refused for a run that has ended. */
  askStop(stop: { id: string }, by: Writer): Promise<Run>;
  /** What people want of a run that is at work; cheap, because whoever watches asks again and again. */
  readWishes(ref: string): Promise<RunWishes>;
  /** Runs that have not ended, with who watches them. */
  listOpenRuns(): Promise<WatchedRun[]>;

  /**
   * This process is at work on the task from now on; no event. With `from` only where it was that one's, null where it
   * was nobody's: false says that somebody else was faster.
   */
  takeWatch(watch: TaskWatch, now: number): Promise<boolean>;
  /** Nothing is left to do, as far as this one knows. Idempotent. */
  noteUnwatched(watch: { task_id: string; watcher: ProcessMark }): Promise<void>;
  listWatchedTasks(): Promise<WatchedTask[]>;

  /** Refused while another review of the same attempt is running. One that waits is void from now on. */
  startReview(review: NewReview, by: Writer): Promise<Review>;
  addStepResult(step: { id: string; result: StepResult }, by: Writer): Promise<Review>;
  /** The checks passed, and whoever holds the gate has yet to say its word. It outlives this process. */
  askVerdict(review: { id: string }, by: Writer): Promise<Review>;
  /**
   * Only what is running or waiting can end; all else is refused. One that was cleared meanwhile ends as `void` where it
   * would have passed.
   */
  finishReview(end: ReviewEnd, by: Writer): Promise<Review>;
  /** What was judged so far counts no more: passed and waiting reviews become void, a running one cannot pass. Idempotent. */
  clearReviews(task: { task_id: string }, by: Writer): Promise<void>;
  /** The oldest first. */
  listReviews(query: { task_id: string }): Promise<Review[]>;
  listOpenReviews(): Promise<WatchedReview[]>;

  /** At the end of its target's queue. Refused where the attempt is in it already. */
  queueMerge(merge: NewMerge, by: Writer): Promise<Merge>;
  /**
   * Makes the first of the queue `started` if it is this one and nothing else is; undefined where it must wait, also
   * where another process was faster with the same one. Refused for one that is over. Waiting costs a look, no lock.
   */
  takeMerge(take: { id: string; watcher: ProcessMark }, by: Writer): Promise<Merge | undefined>;
  /**
   * The target is about to move. Answers why the task is not to be merged any more; undefined where it still stands in
   * its gate, and then no write moves, archives or deletes it before the landing is cleared or the merge is finished.
   * Refused for a merge that was not begun, or is over.
   */
  takeLanding(landing: NewLanding, by: Writer): Promise<Loss | undefined>;
  /** The target has not moved. Idempotent. */
  clearLanding(landing: { id: string }, by: Writer): Promise<void>;
  /** Refused for one that is over, and for one that was not begun unless it is dropped or refused. */
  finishMerge(end: MergeEnd, by: Writer): Promise<Merge>;
  /** Queued and started ones, in the order of the queue. */
  listOpenMerges(): Promise<WatchedMerge[]>;
  listMerges(query: { task_id: string }): Promise<Merge[]>;

  /** Refused for a run that has ended. */
  askApproval(approval: NewApproval, by: Writer): Promise<Approval>;
  /** Refused for one that was answered already. */
  answerApproval(answer: ApprovalAnswer, by: Writer): Promise<Approval>;
  /** `always`: those that still allow something for the rest of the task. */
  listApprovals(query: ApprovalQuery): Promise<Approval[]>;
  /** What was allowed for the rest of a task is not any more: one of them, or all. Gives those that it was true of. */
  forgetApprovals(query: { task_id: string; id?: string | undefined }, by: Writer): Promise<Approval[]>;

  addMessage(message: { attempt_id: string; body: string }, by: Writer): Promise<void>;
  /** Those that nobody has had yet, the oldest first. */
  listMessages(query: { attempt_id: string }): Promise<WaitingMessage[]>;
  /** Somebody has had it. Idempotent. */
  noteDelivered(message: { seq: number; now: number }): Promise<void>;
  /** Both in one: they are delivered by this. */
  takeMessages(query: { attempt_id: string; now: number }): Promise<WaitingMessage[]>;

  /** Kept for a week. Says where it comes from; with `after` only what ran later than that. */
  findStep(query: StepQuery): Promise<StepResult | undefined>;
  keepStep(step: KeptStep): Promise<void>;
}

/** A process that cannot be taken for another one that has its number later. */
export interface ProcessMark {
  readonly host: string;
  readonly boot_id: string;
  readonly pid_namespace: string;
  /** The namespaces of process numbers around that one; left out where none is known. */
  readonly around?: readonly string[] | undefined;
  readonly pid: number;
  readonly start_time: number;
  /** Of a process that has a row of its own; left out for programs, and in rows of an older Forge. */
  readonly daemon_id?: string | undefined;
}

/** Something that a process is at, or was when it was killed. */
export interface OpenWork {
  /** `start`: of an agent whose run has no row yet. */
  readonly kind: 'run' | 'review' | 'merge' | 'start';
  /** Of the task where it is a start. */
  readonly id: string;
  readonly task_id: string;
  /** Of a run, or of what was to be one. */
  readonly agent: string | null;
  readonly watcher: ProcessMark;
}

export interface NewAttempt extends AttemptWish {
  readonly task_id: string;
  /** The process that makes its folder. Its ports are those of its machine: other machines may use the same. */
  readonly holder?: ProcessMark | undefined;
  /** Of the claim that it is made under. */
  readonly fence?: number | undefined;
}

export interface AttemptChange {
  readonly id: string;
  readonly state?: Attempt['state'] | undefined;
  readonly head_commit?: string | undefined;
  readonly agent?: string | null | undefined;
  readonly port?: number | null | undefined;
  readonly pick?: PickRule | undefined;
  /** Null where HEAD is on its branch. */
  readonly strayed?: string | null | undefined;
  readonly merge_commit?: string | undefined;
  readonly cleanup_at?: string | null | undefined;
  readonly removed_at?: string | null | undefined;
}

export interface AttemptQuery {
  readonly task_id?: string | undefined;
  /** Its folder is still there. */
  readonly there?: boolean | undefined;
  readonly state?: Attempt['state'] | undefined;
  readonly name?: string | undefined;
  /** Those whose folders are on this machine, and those of which that is not known. */
  readonly host?: string | undefined;
}

/** `fence` and `in_state` as the caller saw the task; null: whatever they are. */
export interface NewRun extends RunWish {
  readonly attempt_id: string;
}

export interface RunMove extends RunStep {
  readonly id: string;
}

export interface RunWishes {
  readonly stop: boolean;
  /** Its task is not its own any more. */
  readonly loss: Loss | undefined;
  /** Something was said to its attempt that nobody has had yet. */
  readonly messages: boolean;
}

export interface WaitingMessage {
  readonly seq: number;
  readonly body: string;
  readonly author: string;
  readonly created_at: string;
}

export interface RunNote extends KnownOfRun {
  readonly id: string;
}

export interface RunQuery {
  readonly task_id?: string | undefined;
  readonly attempt_id?: string | undefined;
  readonly agent?: string | undefined;
  /** Only those that have not ended. */
  readonly open?: boolean | undefined;
  /** Only those that were made then or later. */
  readonly since?: string | undefined;
  readonly limit?: number | undefined;
}

export interface WatchedRun {
  readonly run: Run;
  readonly watcher: ProcessMark | null;
  readonly process: ProcessMark | null;
  readonly beat_at: number | null;
}

export interface TaskWatch {
  readonly task_id: string;
  readonly watcher: ProcessMark;
  readonly from?: ProcessMark | null | undefined;
}

export interface WatchedTask {
  readonly task_id: string;
  readonly watcher: ProcessMark;
  /** Wall clock in ms. */
  readonly since: number;
}

export interface NewReview {
  readonly id: string;
  readonly task_id: string;
  readonly attempt_id: string | null;
  readonly head_commit: string | null;
  readonly watcher: ProcessMark;
}

/** `verdict_by`: `agent:critic`, `user:ann`. */
export interface ReviewEnd extends ReviewEnding {
  readonly id: string;
  /** Only while it is the task's; throws fence_conflict. */
  readonly fence?: number | undefined;
}

export interface StepQuery {
  readonly tree: string;
  readonly command: string;
  /** As `created_at` is written. */
  readonly after?: string | undefined;
}

export interface KeptStep {
  readonly tree: string;
  readonly command: string;
  readonly result: StepResult;
  /** Of the review that ran it; null for a merge. */
  readonly review_id: string | null;
  readonly now: number;
}

export interface WatchedReview {
  readonly review: Review;
  readonly watcher: ProcessMark;
}

export interface NewLanding {
  /** Of the merge. */
  readonly id: string;
  /** The gate that the task is merged in. */
  readonly in_state: string;
  /** The commit that the target is about to move to: a process that ends in the middle is known by it. */
  readonly candidate: string;
}

export interface NewMerge extends MergeWish {
  readonly attempt_id: string;
  readonly watcher: ProcessMark;
}

export interface MergeEnd extends MergeEnding {
  readonly id: string;
}

export interface WatchedMerge {
  readonly merge: Merge;
  readonly watcher: ProcessMark;
}

export interface NewApproval extends ApprovalWish {
  readonly run_id: string;
}

export interface ApprovalAnswer {
  readonly id: string;
  readonly state: 'allowed' | 'denied' | 'expired';
  readonly reason?: string | undefined;
  readonly always?: AlwaysRule | undefined;
}

export interface ApprovalQuery {
  readonly run_id?: string;
  readonly pending?: boolean;
  readonly task_id?: string;
  readonly always?: true;
}
