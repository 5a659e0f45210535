import type { Actor } from '#domain/actor.ts';
import type { Engine } from '#engine/engine.ts';
import { openAgentFacts } from '#sync/agent-facts.ts';
import type { OperationContext } from './operation.ts';
import { writerOf } from './writer.ts';

/** The engine for one operation. `actor` where somebody else than the caller is meant. */
export async function engineOf(ctx: OperationContext, actor?: Actor): Promise<Engine> {
  const { store } = ctx.project;
  const by = await writerOf(ctx);
  return {
    store,
    workflow: ctx.project.workflow(),
    by: { ...by, actor: actor ?? by.actor },
    clock: ctx.clock,
    agents: openAgentFacts(ctx.place.home),
    work: ctx.workshop,
    follows: ctx.stays,
    may_start: ctx.vouches !== false,
  };
}
