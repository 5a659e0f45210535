import type { ResolvedWorkflow } from '#domain/workflow.ts';
import type { TaskStore, Writer } from '#store/store.ts';

/** What every move works with: the store, the rules, who wants it, and what is known of agents. */
export interface Engine {
  readonly store: TaskStore;
  readonly workflow: ResolvedWorkflow;
  readonly by: Writer;
  readonly agents: AgentFacts;
}

export interface AgentFacts {
  /** Somebody said that this agent claims nothing for now. */
  isPaused(name: string): Promise<boolean>;
  /** Forge starts it; every other agent calls us. */
  isManaged(name: string): Promise<boolean>;
}
