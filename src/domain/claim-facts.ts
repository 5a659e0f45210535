import type { Actor } from './actor.ts';
import { toClaimer, type KnownAgents } from './claimer.ts';
import type { BlockerFacts, ClaimFacts, ClaimWay } from './decide-claim.ts';
import type { Life, TaskRecord } from './task-record.ts';
import { kindOf, type ResolvedWorkflow } from './workflow.ts';
import { holderName, isArchived, roleHolder, submitterOf } from './workflow-fields.ts';

/** What a request says of a claim; everything else a store reads. */
export interface AskedClaim {
  readonly way: ClaimWay;
  readonly to?: string;
  readonly assignee: string;
  readonly agents: KnownAgents;
  readonly companions?: readonly string[] | undefined;
}

/** What a store reads for a claim; of a task that costs something, so that it is read only where it counts. */
export interface ClaimReads {
  readonly asker: Actor;
  readonly pauses_agents: boolean;
  /** Of those that are not closed. */
  readonly blockers: () => readonly BlockerFacts[];
  /** Whether the owner's lease is over, and it has had the time to say that it is still there. */
  readonly is_lease_over: () => boolean;
}

/** Everything that a claim is decided by. */
export function toClaimFacts(record: TaskRecord, claim: AskedClaim, reads: ClaimReads): ClaimFacts {
  const { life } = record;
  return {
    ...toPauseFacts(claim, reads),
    way: claim.way,
    to: claim.to,
    life,
    asker: reads.asker,
    archived: isArchived(record),
    holderOf(role) {
      const holder = roleHolder(record, role);
      return holder === undefined ? undefined : holderName(holder);
    },
    blockers: reads.blockers(),
    lease_over: isAnothers(life, claim.assignee) && reads.is_lease_over(),
  };
}

/** Only the lease of another can be in the way. */
function isAnothers({ status, assignee }: Life, claimer: string): boolean {
  return status === 'in_progress' && assignee !== null && assignee !== claimer;
}

/** The part of it that is about no task. */
export function toPauseFacts(
  { assignee, agents, companions = [] }: Pick<AskedClaim, 'assignee' | 'agents' | 'companions'>,
  { asker, pauses_agents }: Pick<ClaimReads, 'asker' | 'pauses_agents'>,
): Pick<ClaimFacts, 'claimer' | 'companions' | 'pauses_agents'> {
  return {
    claimer: toClaimer(assignee, agents, asker),
    companions: companions.map((name) => toClaimer(name, agents, asker)),
    pauses_agents,
  };
}

/** Of a blocker that is another project's, or not here at all, nothing is known. */
export function toBlockerFacts(
  blocker:
    | { readonly state: string; readonly assignee: string | null; readonly submitted_by: unknown }
    | undefined,
  workflow: ResolvedWorkflow,
): BlockerFacts {
  if (blocker === undefined) return { in_gate: false, submitted_by: null };
  return { in_gate: kindOf(workflow, blocker.state) === 'gate', submitted_by: submitterOf(blocker) };
}
