import type { OpenWork } from './attempt-store.ts';
import type {
  Comment,
  DependencyType,
  Status,
  Task,
  TaskSummary,
  TaskType,
  TaskView,
  Transition,
} from '#contract/task.ts';
import type { Actor } from '#domain/actor.ts';
import type { KnownAgents } from '#domain/claimer.ts';
import type { BoundedTree } from '#domain/dependency-tree.ts';
import type { ClaimRefusal } from '#domain/decide-claim.ts';
import type { HookRunner } from '#domain/decide-move-check.ts';
import type { RememberedTask } from '#domain/decide-restore.ts';
import type { StateMap } from '#domain/map-states.ts';
import type { Holding } from '#domain/task-holding.ts';
import type { Json } from '#kernel/json.ts';
import type { GraphQuery, ReadGraph, TreeQuery } from './graph-query.ts';
import type { KeptWorkflow, WorkflowChange } from './kept-workflow.ts';
import type { ListPages } from './list-pages.ts';
import type { DeletedTask, HistoryEntry, StoreStats } from './report.ts';
import type { HistoryQuery, MoveListQuery, TaskLooks } from './task-looks.ts';

/**
 * The task graph as the rest of Forge sees it. It knows tasks, not SQL. Each method is exactly one
 * transaction: it has happened when the promise resolves and has not when it rejects.
 *
 * Every `id` taken here may be shortened (`TaskRef`); what it means is settled inside the transaction.
 * All methods may throw not_found and ambiguous_id for one, and the store's own troubles: store_busy (after
 * the lock time-out), store_corrupt, read_only, disk_full, schema_newer, io_failed.
 *
 * Text means the same in every database (behaviour/text-behaviour.ts). Ids, states and times are ASCII and compared character
 * by character, whatever the language: so are all lists, places in them and beginnings of ids; other text has the order of
 * its code points. Times are ISO 8601 in UTC with milliseconds. Labels, owners and keys are the same only if every
 * character is. A search compares as `holdsText`. Metadata has its names in order at every depth, and its numbers.
 */
export interface TaskStore extends AsyncDisposable, ListPages, TaskLooks {
  /** Not idempotent: each call makes a task. */
  createTask(task: NewTaskInput, by: Writer): Promise<Task>;
  /**
   * Idempotent. A claim by update of a task that somebody has changes nothing and says so; for every other reason it is
   * refused with the error of the strict claim.
   */
  updateTask(change: TaskUpdate, by: Writer): Promise<UpdateResult>;
  /** Idempotent: claiming one's own task again gives the same fence. */
  claimTask(claim: ClaimRequest, by: Writer): Promise<ClaimResult>;
  /** Picks and claims in one step; undefined when nothing is ready. Throws where `decidePause` refuses. */
  claimNext(claim: NextRequest, by: Writer): Promise<(Task & { fence: number }) | undefined>;
  /** Throws where `decideRelease` refuses: the task has no owner, or another one. */
  releaseTask(
    release: {
      id: string;
      owner: string;
      force: boolean;
      reason: string | null;
      fence?: number | undefined;
    },
    by: Writer,
  ): Promise<Task>;
  /**
   * Idempotent: closing a closed task changes nothing. Throws where `decideClose` refuses: an attempt is
   * unfinished and it is not forced, which the event says.
   */
  closeTask(
    close: {
      id: string;
      reason: string;
      force?: boolean | undefined;
      version?: number | undefined;
      fence?: number | undefined;
    },
    by: Writer,
  ): Promise<CloseResult>;
  /** Throws where `decideReopen` refuses: the task is not closed. */
  reopenTask(
    reopen: {
      id: string;
      reason: string | null;
      version?: number | undefined;
      fence?: number | undefined;
    },
    by: Writer,
  ): Promise<Task>;
  /** One move along the workflow's edges. Throws where `decideMove` refuses. */
  moveTask(move: MoveRequest, by: Writer): Promise<MovedTask>;
  /**
   * Moves every task out of states that the writer's workflow does not have, all or none; runs no guards and no hooks.
   * Throws where `planMapping` refuses: it would close, reopen or claim one. Idempotent.
   */
  mapStates(map: StateMap, by: Writer): Promise<MappedState[]>;
  /** What the hooks of the task's last move to this state gave. */
  recordHookResults(results: { id: string; to_state: string; results: readonly HookResult[] }): Promise<void>;
  /** Adds to the feed what is no change of a task: `request.finished`, a new workflow. */
  noteEvent(event: { readonly type: string; readonly data: unknown }, by: Writer): Promise<void>;
  /** Says that the holder of a claim is still there. Throws fence_conflict for a claim that is over. */
  renewLease(renewal: { id: string; fence: number }, by: Writer): Promise<{ id: string; expires_at: string }>;
  /** The workflow by which every write is decided, and by which this store shows tasks from now on. One look. */
  readKeptWorkflow(): Promise<KeptWorkflow>;
  /**
   * Makes it the next version where it is one (decideWorkflow), parks and unparks tasks by it, and tells
   * `project.changed`; answers which counts then. Idempotent. Where nothing can be written, or a store that was opened
   * for reading would have to wait, it counts for this process alone.
   */
  setWorkflow(change: WorkflowChange, by: Writer): Promise<KeptWorkflow>;
  /** While paused, agents cannot claim. Idempotent. */
  pauseProject(paused: boolean, by: Writer): Promise<{ paused_at: string | null }>;
  readPause(): Promise<string | null>;
  deleteTask(
    remove: { id: string; version?: number | undefined; fence?: number | undefined },
    by: Writer,
  ): Promise<DeleteResult>;
  /** Whether a deleted task can be restored without help. Throws not_found for what is not deleted. */
  readDeleted(ref: string): Promise<DeletedTask>;
  restoreTask(
    restore: { id: string; fence?: number | undefined; remembered?: RememberedTask | undefined },
    by: Writer,
  ): Promise<Task>;
  addComment(
    comment: { id: string; body: string; reply_to: string | null; fence?: number | undefined },
    by: Writer,
  ): Promise<Comment & { task_id: string }>;
  /** Idempotent. Throws dependency_cycle with the path. A `foreign` target is another project's, by its whole id. */
  addDependency(
    edge: {
      from_id: string;
      to_id: string;
      type: DependencyType;
      foreign?: boolean;
      /** Of the task that waits. */
      fence?: number | undefined;
    },
    by: Writer,
  ): Promise<{ from_id: string; to_id: string; added: boolean }>;
  /** Throws not_found when there is no such edge. */
  removeDependency(
    edge: {
      from_id: string;
      to_id: string;
      type: DependencyType | undefined;
      fence?: number | undefined;
    },
    by: Writer,
  ): Promise<{ from_id: string; to_id: string; removed: DependencyType[] }>;

  /** Dependencies on tasks that are not here, `LIMITS.foreign_tasks` at most. Every command asks: one query. */
  listForeign(): Promise<ForeignEdge[]>;
  /** What other projects say of them: whether each is closed. Idempotent; changes readiness and nothing else. */
  markForeign(closed: ReadonlyMap<string, boolean>): Promise<void>;
  /** Runs, reviews and merges that have not ended, with who watches them, in no order. Every command asks: one query. */
  listOpenWork(): Promise<OpenWork[]>;
  /** Whether exactly this id is a task of this store, a deleted one included. */
  holdsTask(id: string): Promise<boolean>;

  /** Another text whenever something was written, whoever did and whatever it was; as long as the store is open. */
  readStamp(): Promise<string>;
  /** A task as the workflow sees it, before a move. */
  readStanding(id: string): Promise<Standing>;
  /** Whether a run, review or merge of exactly this task has not ended; also of a deleted one. Every change asks. */
  isWorkedOn(id: string): Promise<boolean>;
  /** Nobody is about to start an agent on it any more. Idempotent. */
  forgetWatch(id: string): Promise<void>;
  /** The newest ones, the oldest of them first. */
  listTransitions(query: MoveListQuery): Promise<Transition[]>;
  getTask(id: string): Promise<TaskView>;
  /** The whole id of a task, also of a deleted one. */
  findTask(id: string): Promise<{ id: string; deleted: boolean }>;
  listReady(query: ReadyQuery): Promise<ReadyTask[]>;
  explainReady(query: ReadyQuery): Promise<ExplainedTask[]>;
  listTasks(query: TaskQuery): Promise<Task[]>;
  listBlocked(query: { limit: number | undefined }): Promise<BlockedTask[]>;
  readHistory(query: HistoryQuery): Promise<HistoryEntry[]>;
  readTree(query: TreeQuery): Promise<BoundedTree>;
  readGraph(query: GraphQuery): Promise<ReadGraph>;
  readStats(query: { now: number; exclude_types: readonly TaskType[] }): Promise<StoreStats>;
}

/** Who writes, and what the clock says. */
export interface Writer {
  readonly actor: Actor;
  readonly now: number;
  /**
   * A condition of every write: whose task it must be. It is checked inside the write's transaction, where nobody can
   * take the task away any more; throws permission_denied.
   */
  readonly holding?: Holding | undefined;
  /** False: a token that may not run programs. No write of it changes the checks of a task; throws permission_denied. */
  readonly vouches?: boolean | undefined;
  /** The writer runs the hooks of moves: one that has some is refused until it was looked at; see `decideMoveCheck`. */
  readonly hooks?: HookRunner | undefined;
}

export interface NewTaskInput {
  readonly id_prefix: string;
  readonly title: string;
  readonly description: string;
  readonly type: TaskType;
  readonly priority: number;
  readonly state: string;
  readonly parent_id: string | null;
  readonly assignee: string | null;
  readonly labels: readonly string[];
  readonly github_issue: number | null;
  readonly depends_on: readonly string[];
  /** Those of other projects, by their whole ids. */
  readonly foreign_depends_on?: readonly string[] | undefined;
  readonly metadata: ReadonlyMap<string, Json>;
  /** What the workflow keeps on a task, by the names of its line. */
  readonly workflow_fields?: ReadonlyMap<string, Json> | undefined;
}

/** Fields; and with `agents` also status, state and owner, which may be a claim. */
export type TaskUpdate = FieldUpdate & (LifeUpdate | { readonly [Name in keyof LifeUpdate]?: undefined });

/** Whoever may make a claim of it says which agents there are: the rules of claims ask for that. */
interface LifeUpdate {
  readonly status?: Status | undefined;
  readonly state?: string | undefined;
  readonly assignee?: string | null | undefined;
  readonly agents: KnownAgents;
}

interface FieldUpdate {
  readonly id: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly priority?: number | undefined;
  readonly type?: TaskType | undefined;
  readonly github_issue?: number | null | undefined;
  readonly parent_id?: string | null | undefined;
  readonly reason?: string | undefined;
  readonly labels_add?: readonly string[] | undefined;
  readonly labels_remove?: readonly string[] | undefined;
  readonly metadata_set?: ReadonlyMap<string, Json> | undefined;
  readonly metadata_unset?: readonly string[] | undefined;
  /** What the workflow keeps on a task, by the names of its line; null empties one. */
  readonly workflow_fields?: ReadonlyMap<string, Json> | undefined;
  readonly version?: number | undefined;
  readonly fence?: number | undefined;
}

/** What every claim says of the one it is for. */
interface ClaimerFacts {
  readonly assignee: string;
  /** Every agent that is registered, read just before. */
  readonly agents: KnownAgents;
  /** Other agents that the claim starts. */
  readonly companions?: readonly string[] | undefined;
}

export interface ClaimRequest extends ClaimerFacts {
  readonly id: string;
  readonly force: boolean;
  /** Of the claim that the caller has; for a claim of its own task again. */
  readonly fence?: number | undefined;
  /** The claim ends by itself unless it is renewed in time. */
  readonly lease_ms?: number | undefined;
}

export type NextRequest = ReadyQuery & ClaimerFacts & { readonly lease_ms?: number | undefined };

export interface MoveRequest {
  readonly id: string;
  readonly to: string;
  /** A move into work is a claim of whoever begins it. */
  readonly agents: KnownAgents;
  readonly reason: string | null;
  /** A gate said no. */
  readonly rejection?: boolean | undefined;
  readonly version?: number | undefined;
  readonly fence?: number | undefined;
  /** Written with the move. */
  readonly workflow_fields?: ReadonlyMap<string, Json> | undefined;
}

export interface MovedTask {
  readonly task: Task;
  readonly fence: number;
  readonly from_state: string;
  readonly to_state: string;
}

export interface MappedState {
  readonly from: string;
  readonly to: string;
  /** How many were moved. */
  readonly tasks: number;
}

export interface HookResult {
  readonly phase: string;
  readonly action: string;
  readonly outcome: 'passed' | 'failed' | 'cascaded';
  readonly message?: string | undefined;
}

export interface Standing {
  readonly task: Task;
  readonly fence: number;
  /** Those that are not closed. */
  readonly blockers: readonly Blocker[];
  /** How often each gate said no since a person last granted a budget. */
  readonly rejections: ReadonlyMap<string, number>;
}

/** `claimed` only where the update was a claim. */
export type UpdateResult = Task & { claimed?: boolean; fence?: number };

export type ClaimResult =
  | { readonly outcome: 'claimed'; readonly task: Task; readonly fence: number }
  /** `blockers` only where it waits for some. */
  | (ClaimRefusal & { readonly task: Task; readonly blockers?: readonly Blocker[] });

/** `unblocked`: open tasks that waited for nothing else; `unblocked_more`: how many are not in the list. */
export type CloseResult = Task & { unblocked: string[]; unblocked_more?: number };

export interface DeleteResult {
  id: string;
  title: string;
  deleted_at: string;
  orphaned: string[];
  unblocked: string[];
  /** Whose claim ended by it, where it was another's. */
  former_owner?: string;
}

export interface ReadyQuery {
  /** For work: without epics that have open children, unless epics are asked for by their type. */
  readonly to_hand_out?: boolean | undefined;
  /** Undefined and null: unassigned tasks. A name: also what is reserved for it. */
  readonly assignee?: string | null | undefined;
  readonly type?: TaskType | undefined;
  readonly label?: string | undefined;
  readonly exclude_types?: readonly TaskType[] | undefined;
  readonly sort?: 'priority' | 'impact' | undefined;
  readonly limit?: number | undefined;
  /** Only what comes behind this place, in the same order. */
  readonly after?: TaskPosition | undefined;
}

/** A place in any order of tasks: what the orders compare by. */
export interface TaskPosition {
  readonly priority: number;
  readonly created_at: string;
  readonly updated_at: string;
  readonly id: string;
  readonly critical_path: number;
  readonly unblocks: number;
}

export type ReadyTask = Task & { impact?: { critical_path: number; unblocks: number } };

export interface Blocker {
  readonly id: string;
  /** Null where the blocker is not in this store. */
  readonly title: string | null;
  readonly status: Status | null;
  readonly assignee: string | null;
}

/** A dependency, or several on one task, that leads out of this store. */
export interface ForeignEdge {
  readonly id: string;
  /** As far as is known. */
  readonly closed: boolean;
  readonly blocks: boolean;
}

/** `blockers_more`: how many are not in the list. */
export type BlockedTask = TaskSummary & { blockers: Blocker[]; blockers_more?: number };
export type ExplainedTask = BlockedTask & { ready: boolean; reasons: string[] };

export interface TaskQuery {
  readonly status?: Status | undefined;
  readonly state?: string | undefined;
  readonly type?: TaskType | undefined;
  readonly priority?: number | undefined;
  readonly assignee?: string | null | undefined;
  readonly label?: string | undefined;
  readonly parent_id?: string | null | undefined;
  readonly github_issue?: number | null | undefined;
  readonly text?: string | undefined;
  /** Archived tasks are left out unless asked for. */
  readonly include_archived?: boolean | undefined;
  /** Leaves closed tasks out unless `status` asks for them. */
  readonly open_only?: boolean | undefined;
  readonly sort?: 'priority' | 'created' | 'updated' | 'id' | undefined;
  readonly limit?: number | undefined;
  /** Only what comes behind this place, in the same order. */
  readonly after?: TaskPosition | undefined;
}
