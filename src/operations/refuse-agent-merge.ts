import type { Actor } from '#domain/actor.ts';
import { ForgeError } from '#kernel/errors.ts';

/** Said before anything is started: no agent merges, whether by a move of its own or by letting others work. */
export function refuseAgentMerge({ kind, name }: Actor, merge: boolean): void {
  if (!merge || kind !== 'agent') return;
  throw new ForgeError('permission_denied', `${name} is an agent, and an agent cannot merge`, {
    hint: 'Leave --merge out; a person merges, or merge.auto in the settings',
    details: { actor: name },
  });
}
