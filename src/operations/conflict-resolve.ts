import type { resolveConflict } from '#contract/sync-operations.ts';
import { LIFE } from '#domain/lost-values.ts';
import { refuseStart } from '#engine/refuse-start.ts';
import { ForgeError } from '#kernel/errors.ts';
import { escapeLine } from '#kernel/text.ts';
import { isFileConflict, settleFileConflicts } from '#sync/file-conflicts.ts';
import { nameValue } from './conflict-list.ts';
import { engineOf } from './engine-of.ts';
import { implement, type OperationContext } from './operation.ts';
import { writerOf } from './writer.ts';

export const conflictResolve = implement<typeof resolveConflict>({
  async run(ctx, input) {
    const { paths } = ctx.project;
    if (isFileConflict(input.id)) {
      if (input.take_lost === true) throw refuseTaking(input.id);
      return settleFileConflicts(paths, { id: input.id, field: input.field });
    }
    const settle = {
      id: input.id,
      field: input.field,
      take_lost: input.take_lost === true,
      fence: input.fence,
    };
    if (settle.take_lost) await checkOwners(ctx, settle);
    return ctx.project.store.settleConflicts(settle, await writerOf(ctx));
  },
  text: ({ id, settled, left }) =>
    `Settled ${settled.map((name) => escapeLine(nameValue(name))).join(', ')} of ${id}${left === 0 ? '' : `; ${left} left`}`,
});

/** To take back that an agent owns a task is to give it to the agent, as a claim or an update does. */
async function checkOwners(
  ctx: OperationContext,
  { id, field }: { readonly id: string; readonly field: string | undefined },
): Promise<void> {
  if (ctx.vouches !== false || (field !== undefined && field !== LIFE)) return;
  const engine = await engineOf(ctx);
  for (const { id: task, name, lost } of await ctx.project.store.listConflicts(id)) {
    if (name !== LIFE || typeof lost !== 'object' || lost === null || !('assignee' in lost)) continue;
    if (typeof lost.assignee === 'string') await refuseStart(engine, { id: task, agent: lost.assignee });
  }
}

/** Tasks may stand in states that the other workflow has not, and a config may say another prefix. */
function refuseTaking(id: 'workflow' | 'config'): ForgeError {
  return new ForgeError('state_invalid', `The ${id} is not taken over by settling it`, {
    hint:
      id === 'workflow'
        ? 'forge conflicts workflow; git show <key> > other.json; forge workflow set other.json; forge resolve workflow'
        : 'forge conflicts config; change .forge/config.json; forge resolve config',
    details: { id },
  });
}
