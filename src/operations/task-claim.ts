import type { InputOf } from '#contract/declare.ts';
import type { claimTask as declaration } from '#contract/claim-operations.ts';
import { claimNext, claimTask } from '#engine/change-task.ts';
import type { Engine } from '#engine/engine.ts';
import { ForgeError } from '#kernel/errors.ts';
import { escapeLine } from '#kernel/text.ts';
import type { ClaimResult } from '#store/store.ts';
import { engineOf } from './engine-of.ts';
import { implement, type OperationContext } from './operation.ts';

export const taskClaim = implement<typeof declaration>({
  async run(ctx, input) {
    const engine = await engineOf(ctx);
    const assignee = input.assignee ?? engine.by.actor.name;
    if ((input.overrides ?? null) !== null) {
      throw new ForgeError('not_available', 'Only a run of a managed agent has something to override', {
        details: { action: 'dispatch_role_agent' },
      });
    }
    if (input.next === true) return claimFirst(ctx, engine, { ...input, assignee });
    if (input.id === undefined) throw usage('Which task? Give its id, or --next for the first ready one');
    if (input.type !== undefined || input.label !== undefined)
      throw usage('--type and --label belong to --next');
    const claim = await claimTask(engine, {
      id: input.id,
      assignee,
      force: input.force === true,
      lease_ms: toMs(input.lease),
    });
    if (claim.outcome !== 'claimed') throw refused(claim);
    return { ...claim.task, claimed: true as const, fence: claim.fence };
  },
  text: (task) =>
    `Claimed task ${escapeLine(task.id)} for ${escapeLine(task.assignee ?? '')}: ${escapeLine(task.title)}`,
});

async function claimFirst(
  ctx: OperationContext,
  engine: Engine,
  input: InputOf<typeof declaration> & { assignee: string },
) {
  if (input.id !== undefined) throw usage('Give an id or --next, not both');
  if (input.force === true) throw usage('--next takes only what is ready; --force needs an id');
  const claimed = await claimNext(engine, {
    assignee: input.assignee,
    type: input.type,
    label: input.label,
    exclude_types: ctx.project.config.ready.excludeTypes,
    lease_ms: toMs(input.lease),
  });
  if (claimed === undefined) {
    throw new ForgeError('nothing_ready', 'No task is ready', { hint: 'forge ready --explain' });
  }
  return { ...claimed, claimed: true as const };
}

function toMs(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1000;
}

function refused(claim: Exclude<ClaimResult, { outcome: 'claimed' }>): ForgeError {
  const { id, status, state } = claim.task;
  switch (claim.outcome) {
    case 'taken':
      return new ForgeError('claim_conflict', `${id} belongs to ${claim.owner}`, {
        hint: 'forge claim --next',
        details: { id, assignee: claim.owner, status },
      });
    case 'blocked':
      return new ForgeError(
        'dependency_gate',
        `${id} waits for ${claim.blockers.map((blocker) => blocker.id).join(', ')}`,
        {
          hint: `forge dep tree ${id}`,
          details: { id, blockers: claim.blockers },
        },
      );
    case 'role':
      return new ForgeError('role_conflict', `The role ${claim.role} of ${id} is ${claim.holder}'s`, {
        hint: `forge task roles ${id}`,
        details: { id, role: claim.role, holder: claim.holder },
      });
    case 'project_paused':
      return new ForgeError('project_paused', 'The project is paused; people may claim, agents may not', {
        hint: 'forge project resume',
        details: { id },
      });
    case 'archived':
      return new ForgeError('state_invalid', `${id} is archived`, {
        hint: `forge task unarchive ${id}`,
        details: { id, status, state },
      });
    case 'parked':
      return new ForgeError('state_invalid', `${id} is parked in ${state}`, {
        hint: `forge task update ${id} --state todo`,
        details: { id, status, state },
      });
    case 'closed':
      return new ForgeError('state_invalid', `${id} is closed`, {
        hint: `forge task reopen ${id}`,
        details: { id, status, state },
      });
  }
}

function usage(message: string): ForgeError {
  return new ForgeError('usage', message, { hint: 'forge claim --help' });
}
