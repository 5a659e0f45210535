import { ForgeError } from '#kernel/errors.ts';
import type { Engine } from './engine.ts';

/**
 * To make a task an agent's that Forge starts is to run a program, by any command: a claim, an update, a move.
 * Throws permission_denied where the caller may not, before anything is written.
 */
export async function refuseStart(
  { may_start, follows, agents }: Pick<Engine, 'may_start' | 'follows' | 'agents'>,
  { id, agent }: { readonly id: string; readonly agent: string },
): Promise<void> {
  if (may_start !== false || follows !== true || !(await agents.isManaged(agent))) return;
  throw new ForgeError(
    'permission_denied',
    `Forge would start ${agent} for ${id}, which needs a token with the scope exec`,
    { hint: 'forge token create --scope exec', details: { id, agent, needed: 'exec' } },
  );
}
