import { ForgeError } from '#kernel/errors.ts';
import type { ClaimResult } from '#store/store.ts';

/** Why a claim was not given, and what to do instead. */
export function explainRefusal(claim: Exclude<ClaimResult, { outcome: 'claimed' }>): ForgeError {
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
