import type { Task } from '#contract/task.ts';
import { ForgeError } from '#kernel/errors.ts';
import type { ClaimRefusal, PauseRefusal } from './decide-claim.ts';

/** What a person is told besides: the tasks that it waits for. */
interface Waiting {
  readonly id: string;
}

/** Why a claim was not given, and what to do instead. The one place where a refusal becomes an error. */
export function explainRefusal(
  refusal: ClaimRefusal & {
    readonly task: Pick<Task, 'id' | 'status' | 'state'>;
    readonly blockers?: readonly Waiting[] | undefined;
  },
): ForgeError {
  const { id, status, state } = refusal.task;
  switch (refusal.outcome) {
    case 'taken':
      return new ForgeError('claim_conflict', `${id} belongs to ${refusal.owner}`, {
        hint: 'forge claim --next',
        details: { id, assignee: refusal.owner, status },
      });
    case 'blocked': {
      const blockers = refusal.blockers ?? [];
      return new ForgeError(
        'dependency_gate',
        `${id} waits for ${blockers.map((blocker) => blocker.id).join(', ')}`,
        { hint: `forge dep tree ${id}`, details: { id, blockers } },
      );
    }
    case 'role':
      return new ForgeError('role_conflict', `The role ${refusal.role} of ${id} is ${refusal.holder}'s`, {
        hint: `forge task roles ${id}`,
        details: { id, role: refusal.role, holder: refusal.holder },
      });
    case 'agent_paused':
    case 'project_paused':
      return explainPause(refusal, { id });
    case 'archived':
      return new ForgeError('state_invalid', `${id} is archived`, {
        hint: `forge task unarchive ${id}`,
        details: { id, status, state },
      });
    case 'kept_archived':
      return new ForgeError('permission_denied', `${id} is archived: only a person can take it out again`, {
        hint: 'forge claim --next',
        details: { id, state },
      });
    case 'parked':
      return new ForgeError('state_invalid', `${id} is parked in ${state}`, {
        hint: `forge task update ${id} --state todo`,
        details: { id, status, state },
      });
    case 'kept_parked':
      return keptParked({ id, state });
    case 'closed':
      return new ForgeError('state_invalid', `${id} is closed`, {
        hint: `forge task reopen ${id}`,
        details: { id, status, state },
      });
  }
}

/** Why a claimer gets no task at all. */
export function explainPause(refusal: PauseRefusal, details: { readonly id?: string } = {}): ForgeError {
  if (refusal.outcome === 'project_paused') {
    return new ForgeError('project_paused', 'The project is paused; people may claim, agents may not', {
      hint: 'forge project resume',
      details,
    });
  }
  const { agent } = refusal;
  return new ForgeError('agent_paused', `${agent} is paused and claims nothing`, {
    hint: `forge agent resume ${agent}`,
    details: { ...details, agent },
  });
}

/** What is parked is put into the queue by people. */
export function keptParked({ id, state }: { readonly id: string; readonly state: string }): ForgeError {
  return new ForgeError(
    'permission_denied',
    `${id} is parked in ${state}: only a person can put it into the queue`,
    { hint: 'forge claim --next', details: { id, state } },
  );
}
