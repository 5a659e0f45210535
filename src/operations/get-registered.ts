import type { AgentFacts } from '#engine/engine.ts';
import { ForgeError } from '#kernel/errors.ts';

/** A name that is said to be an agent's must be known as one on this machine. Throws not_found. */
export async function getRegistered(agents: Pick<AgentFacts, 'readAll'>, name: string): Promise<string> {
  if ((await agents.readAll()).has(name)) return name;
  throw new ForgeError('not_found', `There is no agent ${name}`, {
    hint: `forge agent add ${name}`,
    details: { agent: name },
  });
}
