import type { PickRule } from '#contract/attempt.ts';
import type { SideWishes } from '#engine/sides.ts';
import { ForgeError } from '#kernel/errors.ts';

/** Who has the task, and how often at once it is worked on. Throws invalid_input for what does not fit. */
export function readSideWishes({
  agents,
  count = Math.max(1, agents.length),
  pick,
}: {
  agents: readonly string[];
  count?: number | undefined;
  pick?: PickRule | undefined;
}): { readonly agent: string; readonly attempts: SideWishes | undefined } {
  const [agent] = agents;
  if (agent === undefined)
    throw new ForgeError('invalid_input', 'Nobody is named who works on it', { hint: 'forge agent list' });
  if (agents.length > count) {
    throw new ForgeError('invalid_input', `${agents.length} agents need as many attempts, not ${count}`, {
      hint: `--attempts ${agents.length}`,
      details: { agents, attempts: count },
    });
  }
  return { agent, attempts: count === 1 && pick === undefined ? undefined : { agents, count, pick } };
}
