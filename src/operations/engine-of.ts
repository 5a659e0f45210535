import type { Actor } from '#domain/actor.ts';
import type { Engine } from '#engine/engine.ts';
import { listAgents } from '#sync/agent-identities.ts';
import type { OperationContext } from './operation.ts';
import { writerOf } from './writer.ts';

/** The engine for one operation. `actor` where somebody else than the caller is meant. */
export async function engineOf(ctx: OperationContext, actor?: Actor): Promise<Engine> {
  const { store, workflow } = ctx.project;
  const by = await writerOf(ctx);
  const { home } = ctx.place;
  return {
    store,
    workflow,
    by: { ...by, actor: actor ?? by.actor, workflow },
    agents: {
      isPaused: async (name) =>
        listAgents(home).some((agent) => agent.name === name && agent.paused_at !== null),
      isManaged: async (name) =>
        listAgents(home).some((agent) => agent.name === name && agent.profile !== null),
    },
    work: ctx.workshop,
    follows: ctx.stays,
  };
}
