import type { ManagedAgent, WorkPlace } from '#engine/work.ts';
import { ForgeError } from '#kernel/errors.ts';

/** Throws not_found for one that Forge cannot start. */
export function getManaged({ agents }: Pick<WorkPlace, 'agents'>, name: string): ManagedAgent {
  const found = agents.find(name);
  if (found !== undefined) return found;
  throw new ForgeError('not_found', `${name} is no agent that Forge can start`, {
    hint: `forge agent add ${name} --executor claude`,
    details: { agent: name },
  });
}
