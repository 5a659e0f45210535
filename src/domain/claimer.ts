import type { Actor } from './actor.ts';

/** What is known of a registered agent. */
export interface KnownAgent {
  /** Somebody said that it claims nothing for now. */
  readonly paused: boolean;
  /** When this entry of the name was added; left out where nobody asks. */
  readonly added_at?: string | undefined;
}

/** Every agent that is registered on this machine, by its name, as it stood when the request was made. */
export type KnownAgents = ReadonlyMap<string, KnownAgent>;

/** The one for whom a task is claimed, who need not be the one who asks. */
export interface Claimer {
  readonly name: string;
  readonly kind: 'person' | 'agent';
  readonly paused: boolean;
}

/**
 * A registered name is an agent's, whoever asks. For every other name the one who asks decides: what an agent claims is
 * claimed by an agent, or a made-up name would lead past every rule that agents are under.
 */
export function toClaimer(name: string, agents: KnownAgents, asker: Actor): Claimer {
  const known = agents.get(name);
  const isAgent = known !== undefined || (asker.kind === 'agent' && asker.named);
  return { name, kind: isAgent ? 'agent' : 'person', paused: known?.paused === true };
}

/** A machine on which nobody has registered any. */
export const NO_AGENTS: KnownAgents = new Map();
