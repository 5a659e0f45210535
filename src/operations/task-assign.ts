import type { assignRole as declaration } from '#contract/workflow-operations.ts';
import { assignRole } from '#engine/assign-role.ts';
import { ForgeError } from '#kernel/errors.ts';
import { escapeLine } from '#kernel/text.ts';
import { describeFormerOwner } from './describe-former-owner.ts';
import { engineOf } from './engine-of.ts';
import { getRegistered } from './get-registered.ts';
import { implement } from './operation.ts';

export const taskAssign = implement<typeof declaration>({
  async run(ctx, { id, role, agent, user, version, fence, reset_worktree, reset_workspace }) {
    if (typeof agent === 'string' && typeof user === 'string')
      throw new ForgeError('usage', 'A role has one holder: give --agent or --user, not both');
    const engine = await engineOf(ctx);
    // Agents give no roles, whomever they name: they are not told who is known.
    const isPerson = engine.by.actor.kind !== 'agent';
    if (isPerson && typeof agent === 'string') await getRegistered(engine.agents, agent);
    const holder = typeof agent === 'string' ? { agent } : typeof user === 'string' ? { user } : null;
    const resets = { reset_worktree: reset_worktree === true, reset_workspace: reset_workspace === true };
    return assignRole(engine, { id, role, holder, version, fence, ...resets });
  },
  text: (task) =>
    [
      `Changed a role of ${escapeLine(task.id)}: ${escapeLine(task.title)}`,
      ...describeFormerOwner(task),
    ].join('\n'),
});
