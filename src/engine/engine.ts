import type { KnownAgents } from '#domain/claimer.ts';
import type { ResolvedWorkflow } from '#domain/workflow.ts';
import type { Clock } from '#kernel/clock.ts';
import type { AttemptStore } from '#store/attempt-store.ts';
import type { TaskStore, Writer } from '#store/store.ts';
import type { SideWishes } from './sides.ts';
import type { Work } from './work.ts';

/** What every move works with: the store, the rules, who wants it, and what is known of agents. */
export interface Engine {
  readonly store: TaskStore & Pick<AttemptStore, 'listAttempts' | 'clearReviews'>;
  readonly workflow: ResolvedWorkflow;
  readonly by: Writer;
  /** Checks and merges take their time: what follows from them has another moment than the move itself. */
  readonly clock: Clock;
  readonly agents: AgentFacts;
  /** What checks, merges and starts agents; opened by the first move that needs it. */
  readonly work?: (() => Promise<Work>) | undefined;
  /** What the run that a claim starts does differently from the agent's profile. */
  readonly overrides?: { readonly model?: string; readonly effort?: string } | undefined;
  /** How often at once it is worked on; once where it is left out. */
  readonly attempts?: SideWishes | undefined;
  /** False where the caller has no right to have programs started: then no claim may make an agent of Forge's begin. */
  readonly may_start?: boolean | undefined;
  /** This process stays, so that it can watch what it starts. */
  readonly follows?: boolean | undefined;
}

export interface AgentFacts {
  /** Somebody said that this agent claims nothing for now. */
  isPaused(name: string): Promise<boolean>;
  /** Forge starts it; every other agent calls us. */
  isManaged(name: string): Promise<boolean>;
  /** The names of all that Forge starts. */
  readManaged(): Promise<ReadonlySet<string>>;
  /** Every agent that is registered, as it stands now: what the rules of claims are told. */
  readAll(): Promise<KnownAgents>;
}
