import { listAgents, agentsVersion, type AgentIdentity } from './agent-identities.ts';

/** What the rules ask about an agent, many times an operation: the file is read again only when it has changed. */
export function openAgentFacts(home: string): {
  isPaused(name: string): Promise<boolean>;
  isManaged(name: string): Promise<boolean>;
} {
  let read: { readonly version: string; readonly agents: readonly AgentIdentity[] } | undefined;
  const find = (name: string): AgentIdentity | undefined => {
    const version = agentsVersion(home);
    if (read?.version !== version) read = { version, agents: listAgents(home) };
    return read.agents.find((agent) => agent.name === name);
  };
  return {
    isPaused: async (name) => (find(name)?.paused_at ?? null) !== null,
    isManaged: async (name) => (find(name)?.profile ?? null) !== null,
  };
}
