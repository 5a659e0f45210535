import type { RunOutcome } from '#contract/attempt.ts';
import type { TranscriptEntry } from '#contract/transcript.ts';
import type { SaidUsage } from '#domain/count-usage.ts';
import type { Clock } from '#kernel/clock.ts';
import type { ProcessHost } from '#process/process-host.ts';
import type { ProcessIdentity } from '#process/process-identity.ts';
import type { Walls } from '#process/walls.ts';

/** How Forge runs an agent. One adapter for each protocol; all of them look the same from here. */
export interface Executor {
  /** Starts the program. Rejects with dependency_missing where it is not there, before anything has run. */
  start(spec: RunSpec, host: RunHost): Promise<StartedRun>;
}

/** What every adapter works with. */
export interface ExecutorTools {
  readonly clock: Clock;
  readonly processes: ProcessHost;
  /** The program that plays recorded trajectories, and its first arguments. */
  readonly player: readonly string[];
  /** Of Forge, as it is told to the agent's program. */
  readonly version: string;
  readonly limits?: ProgramLimits | undefined;
  /** What opencode keeps of a session, counted; left out where its database cannot be read. */
  readonly countOpencode?: ((place: OpencodePlace) => SessionCounts | undefined) | undefined;
  /** Hears every line of a protocol as it goes by, for whoever keeps it. */
  readonly tap?: ((from: 'agent' | 'forge', line: string) => void) | undefined;
}

/** What an agent's own books say of a session and of those that it began from it, all earlier runs included. */
export interface SessionCounts {
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  readonly cost_usd: number;
}

/** Whose database, and which session of it. */
export interface OpencodePlace {
  readonly env: Readonly<Record<string, string>>;
  readonly session_id: string;
}

/** How long a program may take to end; what is left out has the value of LIMITS. */
export interface ProgramLimits {
  /** Of itself, when its work is done. */
  readonly exit_ms?: number;
  /** When its protocol told it to stop. */
  readonly interrupt_ms?: number;
  /** Between SIGTERM and SIGKILL. */
  readonly grace_ms?: number;
}

/** The variable that everything a run starts carries, with the run's id: by it what was left over is found again. */
export const RUN_MARKER = 'FORGE_RUN_ID';

export interface RunSpec {
  readonly run_id: string;
  readonly cwd: string;
  readonly prompt: string;
  readonly profile: ExecutorProfile;
  /** All that the program gets, but for the run's marker. */
  readonly env: Readonly<Record<string, string>>;
  /** Chosen before the start, so that a crash never loses it; `resume` goes on with it. */
  readonly session: { readonly id: string; readonly resume: boolean };
  /** The answer has to fit this JSON schema. */
  readonly output_schema?: object | undefined;
  /** It may look and not write. */
  readonly read_only: boolean;
  /** Somebody trusts the repository: what it brings for the program itself (settings, hooks, MCP servers) counts. */
  readonly trusted?: boolean | undefined;
  /** What it can reach; all that its user can, where there are none. */
  readonly walls?: Walls | undefined;
  readonly limits: RunLimits;
}

export interface RunLimits {
  readonly total_ms: number;
  /** Without a word. Time in which a person is asked does not count. */
  readonly idle_ms: number;
  readonly output_bytes: number;
  readonly memory_bytes?: number | undefined;
}

/** What an agent's profile says of its program. */
export interface ExecutorProfile {
  readonly executor: string;
  /** The program and its first arguments; the adapter's own default where it is left out. */
  readonly command?: readonly string[] | undefined;
  readonly model?: string | undefined;
  readonly effort?: string | undefined;
  readonly permissions: PermissionPolicy;
  /** Left out: as the person's settings say. */
  readonly walls?: 'on' | 'off' | undefined;
  /** Commands that need no question, by their first words. */
  readonly allow?: readonly string[] | undefined;
}

/**
 * `ask` sends every request to a person; `edits` allows changes of files in the checkout; `all` allows everything but
 * changes of files that are known to be outside of it, for which a person is asked.
 */
export type PermissionPolicy = 'ask' | 'edits' | 'all';

/** What an adapter tells and asks while it runs. What the user said to the agent is told too. */
export interface RunHost {
  tell(entry: TranscriptEntry): void;
  /** The program's own name for the conversation, where it did not take ours. */
  noteSession(id: string): void;
  /** What the run has used so far, by what its program says: in the middle of a turn where it can be told, and at its end. */
  noteUsage(usage: SaidUsage, when: 'working' | 'turn_end'): void;
  /** Once for every program that is started, before it is told what to do. A rejection ends it. */
  noteProcess(process: ProcessIdentity): Promise<void>;
  /** No answer in time is a no. The question and the answer are put into the transcript here. */
  approve(request: ApprovalRequest): Promise<PermissionAnswer>;
}

/** `reason`: why a person refused it, in their words. */
export interface PermissionAnswer {
  readonly decision: 'allowed' | 'denied' | 'expired';
  readonly reason?: string | undefined;
}

export interface ApprovalRequest {
  readonly id: string;
  readonly tool: string;
  readonly input: unknown;
  readonly command?: string | undefined;
  readonly paths: readonly string[];
  /** Where the command would be run, and the checkout of the run. */
  readonly cwd: string;
  readonly checkout: string;
  /** Aborted when nobody waits for the answer any more: the program has ended, or wants it no longer. */
  readonly signal: AbortSignal;
}

export interface StartedRun {
  /** A further message to the agent at work; false where its protocol cannot take one now. */
  send(text: string): Promise<boolean>;
  /** Messages that were sent and that the program has not taken yet. */
  unheard(): readonly string[];
  /** Ends it with all that it started. Idempotent. */
  stop(): Promise<void>;
  /** Never rejects: what went wrong is in it. */
  readonly ended: Promise<RunEnd>;
}

/**
 * What the program's own channel says of its end. Whether the task got anywhere is decided by the diff besides. Texts
 * are as the program wrote them: secrets have to be taken out before they are kept.
 */
export interface RunEnd {
  readonly outcome: RunOutcome;
  readonly message?: string | undefined;
  readonly exit_code: number | null;
  /** How many requests were refused. */
  readonly denials: number;
  readonly usage: SaidUsage;
  readonly retry_after?: string | undefined;
  /** The answer by `output_schema`, as the program gave it. */
  readonly structured?: unknown;
  /** What it said last. */
  readonly last_message?: string | undefined;
  /** Messages that were sent and that the program never took: they belong into the next prompt. */
  readonly unheard?: readonly string[] | undefined;
  /** Processes that could not be ended. */
  readonly survivors: number;
}
