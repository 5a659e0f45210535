import type { PickRule } from '#contract/attempt.ts';
import type { Actor } from '#domain/actor.ts';
import { decideAgentPick, mayNameRule, type AgentPick } from '#domain/decide-agent-pick.ts';
import type { ResolvedWorkflow } from '#domain/workflow.ts';
import { ForgeError } from '#kernel/errors.ts';

/** Throws permission_denied for an agent that has no say in which attempt goes on. */
export function refuseAgentPick(workflow: ResolvedWorkflow, pick: AgentPick): void {
  const decision = decideAgentPick(workflow, pick);
  if (decision.outcome === 'refused')
    throw denied(pick.actor.name, `cannot pick an attempt: ${decision.why}`);
}

/** The same for an agent that wants another rule than the settings have. */
export function refuseAgentRule(
  actor: Actor,
  rules: { readonly asked: PickRule | undefined; readonly set: PickRule },
): void {
  if (!mayNameRule(actor, rules))
    throw denied(actor.name, `cannot have attempts picked by ${rules.asked}: attempts.pick is ${rules.set}`);
}

function denied(actor: string, why: string): ForgeError {
  return new ForgeError('permission_denied', `${actor} is an agent, and ${why}`, {
    hint: 'A person picks: forge attempt pick <attempt>, without FORGE_ACTOR',
    details: { actor },
  });
}
