import type { ClaimFacts } from '#domain/decide-claim.ts';

/** A claim by a person of a task about which there is nothing to say, but for what a test says. */
export function plainClaim(
  life: ClaimFacts['life'],
  { assignee, ...facts }: Partial<ClaimFacts> & { readonly assignee: string },
): ClaimFacts {
  return {
    way: 'claim',
    life,
    claimer: { name: assignee, kind: 'person', paused: false },
    asker: { kind: 'user', name: 'asker' },
    pauses_agents: false,
    archived: false,
    companions: [],
    holderOf: () => undefined,
    blockers: [],
    lease_over: false,
    ...facts,
  };
}
