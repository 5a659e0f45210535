import type { InputOf } from '#contract/declare.ts';
import type { claimTask } from '#contract/task-operations.ts';
import { ForgeError } from '#kernel/errors.ts';
import { escapeLine } from '#kernel/text.ts';
import type { ClaimResult } from '#store/store.ts';
import { implement, type OperationContext } from './operation.ts';
import { writerOf } from './writer.ts';

export const taskClaim = implement<typeof claimTask>({
  async run(ctx, input) {
    const { store } = ctx.project;
    const by = await writerOf(ctx);
    const assignee = input.assignee ?? by.actor.name;
    if (input.next === true) return claimNext(ctx, { ...input, assignee });
    if (input.id === undefined) throw usage('Which task? Give its id, or --next for the first ready one');
    if (input.type !== undefined || input.label !== undefined)
      throw usage('--type and --label belong to --next');
    const claim = await store.claimTask({ id: input.id, assignee, force: input.force === true }, by);
    if (claim.outcome !== 'claimed') throw refused(claim);
    return { ...claim.task, claimed: true as const, fence: claim.fence };
  },
  text: (task) =>
    `Claimed task ${escapeLine(task.id)} for ${escapeLine(task.assignee ?? '')}: ${escapeLine(task.title)}`,
});

async function claimNext(ctx: OperationContext, input: InputOf<typeof claimTask> & { assignee: string }) {
  if (input.id !== undefined) throw usage('Give an id or --next, not both');
  if (input.force === true) throw usage('--next takes only what is ready; --force needs an id');
  const { store, config } = ctx.project;
  const claimed = await store.claimNext(
    {
      assignee: input.assignee,
      type: input.type,
      label: input.label,
      exclude_types: config.ready.excludeTypes,
    },
    await writerOf(ctx),
  );
  if (claimed === undefined) {
    throw new ForgeError('nothing_ready', 'No task is ready', { hint: 'forge ready --explain' });
  }
  return { ...claimed, claimed: true as const };
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
