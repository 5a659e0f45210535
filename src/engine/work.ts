import type { Attempt, Merge, Review, Run } from '#contract/attempt.ts';
import type { Task } from '#contract/task.ts';
import type { TranscriptEntry } from '#contract/transcript.ts';
import type { SuspensionRules } from '#domain/decide-suspension.ts';
import { findLoss, type Loss } from '#domain/run-hold.ts';
import type { ResolvedWorkflow } from '#domain/workflow.ts';
import type { Executor, ExecutorProfile } from '#executors/executor.ts';
import type { GitRepo } from '#git/ask-git.ts';
import type { Clock } from '#kernel/clock.ts';
import type { ProcessMark } from '#store/attempt-store.ts';
import type { ProjectStore } from '#store/project-store.ts';
import type { ProcessHost } from '#process/process-host.ts';
import type { Standing, Writer } from '#store/store.ts';
import type { UntrustedCommand } from '#sync/trust.ts';
import type { WorkSettings } from '#sync/work-settings.ts';
import type { ActionOutcome } from './actions.ts';
import type { Secrets } from './agent-secrets.ts';
import type { AgentFacts, Engine } from './engine.ts';
import type { CheckoutWatch } from './checkout-watch.ts';
import type { FolderLocks } from './folder-locks.ts';
import type { OpenControl } from './keep-control.ts';

/** What the workflow's actions have done for them outside the store. */
export interface Work {
  /** What has passed its review goes on without being asked. */
  readonly merges_by_itself: boolean;
  /** Says that this process is at work on the task as long as it lasts, so that nobody takes it for abandoned. */
  during<T>(taskId: string, work: () => Promise<T>): Promise<T>;
  /** The same for what may be refused, such as a claim: a process that is alive and at work on the task stays the one. */
  standBy<T>(taskId: string, work: () => Promise<T>): Promise<T>;
  /** Starts the agent that works in the state the task has just come to. */
  dispatch(engine: Engine, assignment: Assignment): Promise<ActionOutcome>;
  /** Throws untrusted where no person has allowed the checks of the task: its agent would work for nothing. */
  checkStart(task: Task): Promise<void>;
  /** Throws untrusted, and state_invalid where there is nothing to check or to merge. */
  checkReview(task: Task): Promise<void>;
  checkMerge(task: Task): Promise<void>;
  /** Runs the checks of a gate on the task's attempt, and then whoever audits. */
  review(engine: Engine, task: Task, gate: string): Promise<ActionOutcome>;
  /** Waits for its turn, and lands the attempt on its target. */
  merge(engine: Engine, task: Task, gate: string): Promise<ActionOutcome>;
  /** Ends what is at work on the task; its folder goes at once or later. */
  retire(engine: Engine, task: Task, when: 'now' | 'later'): Promise<ActionOutcome>;
  /** The folder goes in which a plan was made and nothing else was worked on. Idempotent. */
  endPlanning(task: Task, role: string): Promise<void>;
  /**
   * Ends whoever is at work on the task, for somebody else to begin: with what is committed (`worktree`), or from the
   * beginning (`workspace`). What is thrown away goes to a rescue ref first.
   */
  recall(task: Task, reset: 'worktree' | 'workspace' | undefined): Promise<void>;
  /** Attempts that somebody else brought to their target count as merged from now on. */
  noteLanded(taskId: string): Promise<void>;
  /** Ends every run that has lost the task, and waits until nothing of it is at work. */
  endLost(taskId: string): Promise<void>;
}

export interface Assignment {
  readonly task: Task;
  readonly state: string;
  readonly role: string;
  readonly agent: string;
  readonly hold: Hold;
}

/** What a run has its task by: the number of the claim, and the state that it works in. */
export interface Hold {
  readonly fence: number;
  readonly in_state: string;
}

export function toHold({ task, fence }: Pick<Standing, 'task' | 'fence'>): Hold {
  return { fence, in_state: task.state };
}

/** Why a run or a set-up that was begun under this does not have its task any more; undefined while it has it. */
export function findHoldLoss(
  { fence, in_state }: { readonly fence: number | null; readonly in_state: string | null },
  standing: Pick<Standing, 'task' | 'fence'>,
): Loss | undefined {
  const { id, state, assignee, archived_at } = standing.task;
  const held = { id, state, assignee, archived: archived_at !== undefined, fence: standing.fence };
  return findLoss({ task_id: id, fence, in_state }, held);
}

/** Everything that work on the tasks of one project needs. */
export interface WorkPlace {
  readonly store: ProjectStore;
  readonly clock: Clock;
  readonly repo: GitRepo;
  /** Where the project's own files are, for the name of it. */
  readonly project: { readonly name: string; readonly prefix: string; readonly root: string };
  /** Both may change while a server runs. */
  readonly workflow: () => ResolvedWorkflow;
  readonly settings: () => WorkSettings;
  readonly agents: AgentBook;
  readonly executorFor: (profile: ExecutorProfile) => Promise<Executor>;
  /**
   * Where the agent of a run reaches Forge, with the rights of that run alone; left out in tests. Closed
   * when the run has ended.
   */
  readonly openRunSocket?: ((run: Run, secrets: Secrets) => Promise<RunSocket>) | undefined;
  /** How processes are kept together here; found out once. */
  readonly processes: () => Promise<ProcessHost>;
  /** This process, as the rows of what it watches name it. */
  readonly watcher: ProcessMark;
  /** Under which the checkouts lie. */
  readonly root: string;
  /** The Forge home of the person whose agents work here. */
  readonly home: string;
  /** `<common>/forge/attempts`: logs, and a small record of each attempt. */
  readonly records: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Runs of other projects on this machine; left out where nobody counts them. */
  readonly runsElsewhere?: (() => Promise<number>) | undefined;
  readonly trust: CommandTrust;
  /** Whether what lies in a folder for the programs of agents (settings, hooks, servers) was allowed by somebody. */
  readonly trustsAgentSettings: (folder: string) => boolean;
  /** Faults of agents that ended before these moments count no more. */
  readonly mended: Mended;
  /** How long agents are suspended; shorter ones for tests. */
  readonly faults?: SuspensionRules | undefined;
  /** Aborted when this process is about to end: checks and merges stop where they are. */
  readonly signal: AbortSignal;
  /** git as it is used on attempts, without these files; opened once in a while. */
  readonly control: OpenControl;
  /** The user's own checkout, which no run may change. */
  readonly checkout: CheckoutWatch;
  /** One process at a time works in an attempt's folder. */
  readonly folders: FolderLocks;
  /** Settles what a process left that is gone, so that nobody waits for it. */
  readonly settleLost: () => Promise<void>;
  /** Everything a person at the terminal wants to see of it. */
  readonly watch: (news: WorkNews) => void;
}

/** What a person has seen to, who started this process. */
export interface Mended {
  /** Of the faults that only a person can mend. */
  readonly by_person: string;
  /** Of all: a person has named the task to work on. */
  all: string;
}

/** What people have allowed to run of what a repository brought, or an attempt made of it. */
export interface CommandTrust {
  /** Throws untrusted. In the user's checkout, or in the folder of an attempt with the scripts that lie there. */
  readonly require: (commands: readonly string[], folder?: string) => Promise<void>;
  /** The same as a list. */
  readonly list: (commands: readonly string[], folder: string) => Promise<readonly UntrustedCommand[]>;
  /** Contents of all scripts that the commands would run in the folder, as one text. */
  readonly fingerprint: (commands: readonly string[], folder: string) => Promise<string>;
  /** A person has allowed the commands with the scripts that lie in the folder. */
  readonly allow: (
    commands: readonly string[],
    folder: string,
    by: { readonly now: number; readonly by: string },
  ) => Promise<void>;
}

/** What the programs of one run call Forge by. */
export interface RunSocket extends AsyncDisposable {
  /** What they need to know of it. */
  readonly env: Readonly<Record<string, string>>;
  readonly path: string;
}

export interface AgentBook {
  find(name: string): ManagedAgent | undefined;
  /** All that Forge can start, in the order they were added. */
  list(): readonly ManagedAgent[];
  readonly facts: AgentFacts;
}

export interface ManagedAgent {
  readonly name: string;
  readonly profile: ExecutorProfile;
  readonly env: Readonly<Record<string, string>>;
  /** Tasks at once; null where the settings say. */
  readonly max?: number | null | undefined;
  /** When a person last said that it may go on; null where no person has. */
  readonly resumed_at?: string | null | undefined;
  /** What its role is told besides the task. */
  readonly prompt?: string | undefined;
}

export type WorkNews =
  | { readonly kind: 'attempt'; readonly attempt: Attempt }
  | { readonly kind: 'run'; readonly run: Run }
  | { readonly kind: 'review'; readonly review: Review }
  | { readonly kind: 'merge'; readonly merge: Merge }
  /** A line of a check. */
  | { readonly kind: 'step'; readonly task_id: string; readonly attempt_id: string; readonly text: string }
  | { readonly kind: 'entry'; readonly run: Run; readonly entry: TranscriptEntry }
  | {
      readonly kind: 'note';
      readonly task_id: string;
      /** Left out where it is about none, or about all of them. */
      readonly attempt_id?: string;
      readonly text: string;
    };

/** Forge itself, at what follows from what others did. */
export function systemWriter({ clock }: Pick<WorkPlace, 'clock'>): Writer {
  return { actor: { kind: 'system', name: '', named: true }, now: clock.now() };
}
