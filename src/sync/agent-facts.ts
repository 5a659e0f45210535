import type { KnownAgents } from '#domain/claimer.ts';
import { listAgents, agentsVersion, type AgentIdentity } from './agent-identities.ts';

/** What the rules ask about an agent, many times an operation: the file is read again only when it has changed. */
export function openAgentFacts(home: string): {
  isPaused(name: string): Promise<boolean>;
  isManaged(name: string): Promise<boolean>;
  readManaged(): Promise<ReadonlySet<string>>;
  readAll(): Promise<KnownAgents>;
} {
  let read: { readonly version: string; readonly agents: readonly AgentIdentity[] } | undefined;
  const list = (): readonly AgentIdentity[] => {
    const version = agentsVersion(home);
    if (read?.version !== version) read = { version, agents: listAgents(home) };
    return read.agents;
  };
  const find = (name: string): AgentIdentity | undefined => list().find((agent) => agent.name === name);
  return {
    isPaused: async (name) => (find(name)?.paused_at ?? null) !== null,
    isManaged: async (name) => (find(name)?.profile ?? null) !== null,
    readManaged: async () => new Set(list().flatMap(({ name, profile }) => (profile === null ? [] : [name]))),
    readAll: async () =>
      new Map(
        list().map(({ name, paused_at, created_at }) => [
          name,
          { paused: paused_at !== null, added_at: created_at },
        ]),
      ),
  };
}
