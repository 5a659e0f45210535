import { ForgeError, isForgeError } from '#kernel/errors.ts';
import type { ClaimRefusal } from './decide-claim.ts';
import type { LifeDecision } from './decide-life.ts';
import type { ClaimEndDecision, ForceCommand } from './decide-claim-end.ts';
import type { MoveCheck } from './decide-move-check.ts';
import { explainRefusal, keptParked } from './explain-refusal.ts';
import { explainGraphRefusal, type GraphRefusal } from './graph-refusal.ts';
import type { SeenTask, UnfinishedAttempt } from './task-plan.ts';

/** Why a write of a task was not made. */
export type TaskRefusal =
  /** The task is not the one that the caller saw. */
  | { readonly outcome: 'other_version'; readonly asked: number }
  | { readonly outcome: 'other_claim'; readonly asked: number }
  /** It cannot be released. */
  | { readonly outcome: 'not_claimed' }
  /** An agent does not end or take the claim of another. */
  | Extract<ClaimEndDecision, { outcome: 'not_the_owner' }>
  /** An agent changes only tasks that it holds. */
  | { readonly outcome: 'not_held'; readonly agent: string }
  /** What checks a task becomes commands: the token may not say. */
  | { readonly outcome: 'checks_kept'; readonly actor: string }
  /** An agent does not loosen what judges its work. */
  | { readonly outcome: 'gates_kept'; readonly actor: string; readonly why: string }
  | {
      readonly outcome: 'gate_ahead';
      readonly actor: string;
      readonly to: string;
      readonly gate: string;
      readonly why: string;
    }
  /** The move has to be looked at outside of its transaction. For the engine: no caller is told. */
  | { readonly outcome: 'check_first'; readonly check: MoveCheck }
  | { readonly outcome: 'in_gate' }
  | { readonly outcome: 'not_closed' }
  | {
      readonly outcome: 'no_edge';
      readonly from: string;
      readonly to: string;
      /** Where it can go. */
      readonly next: readonly string[];
      readonly is_known: boolean;
      readonly is_closing: boolean;
    }
  /** A task is done only if its work is in the target. */
  | { readonly outcome: 'not_landed'; readonly to: string; readonly attempt: UnfinishedAttempt }
  | { readonly outcome: 'unfinished'; readonly attempt: UnfinishedAttempt }
  /** It is about to come into its target. */
  | { readonly outcome: 'landing'; readonly merge: string }
  /** Only a person puts it into the queue; `state`: where it is, or was closed. */
  | { readonly outcome: 'kept_parked_in'; readonly state: string }
  | { readonly outcome: 'no_comment'; readonly comment: string }
  | { readonly outcome: 'no_lease'; readonly fence: number }
  /** No value of it lost a merge; `names`: of which others some did. */
  | {
      readonly outcome: 'nothing_lost';
      readonly field: string | undefined;
      readonly names: readonly string[];
    }
  | Extract<LifeDecision, { outcome: 'refused' }>
  | GraphRefusal
  | ClaimRefusal;

/** The error that tells of it, with the command to type next. The one place where such a refusal becomes an error. */
export function explainTaskRefusal(
  { record, version, fence }: SeenTask,
  refusal: TaskRefusal,
  more: { readonly blockers?: readonly { readonly id: string }[] } = {},
): ForgeError {
  const { id, life } = record;
  const show = `forge task show ${id}`;
  const place = { id, status: life.status, state: life.state };
  switch (refusal.outcome) {
    case 'other_version':
      return new ForgeError(
        'version_conflict',
        `${id} has version ${version}, not ${refusal.asked}: somebody changed it`,
        { hint: show, details: { id, version } },
      );
    case 'other_claim':
      return new ForgeError(
        'fence_conflict',
        `The claim ${refusal.asked} of ${id} is over; ${life.assignee ?? 'nobody'} has it now`,
        { hint: show, details: { id, fence, assignee: life.assignee } },
      );
    case 'not_claimed':
      return new ForgeError('state_invalid', `${id} is ${life.status}; only a claimed task can be released`, {
        details: { id, status: life.status },
      });
    case 'not_the_owner':
      return new ForgeError(
        'claim_conflict',
        `${id} belongs to ${life.assignee ?? 'nobody'}, not to ${refusal.owner}`,
        { hint: toForceHints(id)[refusal.next], details: { id, assignee: life.assignee } },
      );
    case 'not_held':
      return new ForgeError(
        'permission_denied',
        `${id} is not ${refusal.agent}'s: an agent changes only tasks that it holds`,
        { hint: 'forge claim --next', details: { id, assignee: life.assignee } },
      );
    case 'checks_kept':
      return new ForgeError(
        'permission_denied',
        `${refusal.actor} cannot change the checks of ${id}: they become commands, which needs a token with the scope exec`,
        { hint: 'forge token create --scope exec', details: { id, needed: 'exec' } },
      );
    case 'gates_kept':
      return new ForgeError('permission_denied', `${refusal.actor} cannot change ${id}: ${refusal.why}`, {
        hint: `forge task comment ${id} "…"`,
        details: { id },
      });
    case 'gate_ahead':
      return new ForgeError(
        'permission_denied',
        `${refusal.actor} cannot move ${id} to ${refusal.to}: ${refusal.why}`,
        { hint: show, details: { id, from: life.state, to: refusal.to, gate: refusal.gate } },
      );
    case 'check_first': {
      const { from, to } = refusal.check;
      return new ForgeError(
        'version_conflict',
        `${id} has to be looked at before it goes from ${from} to ${to}`,
        {
          hint: show,
          details: { id, version },
          cause: refusal,
        },
      );
    }
    case 'in_gate':
      return new ForgeError('state_invalid', `${id} is in ${life.state}; nobody is at work on it`, {
        hint: `forge release ${id} --force`,
        details: { id, state: life.state },
      });
    case 'not_closed':
      return new ForgeError('state_invalid', `${id} is not closed; it is ${life.status}`, {
        details: { id, status: life.status },
      });
    case 'no_edge':
      return new ForgeError(
        'state_invalid',
        refusal.from === refusal.to
          ? `${id} is in ${refusal.to} already`
          : refusal.is_known
            ? `${id} cannot go from ${refusal.from} to ${refusal.to}`
            : `The workflow has no state ${refusal.to}`,
        { hint: hintOfEdge(id, refusal), details: { ...place, next: refusal.next } },
      );
    case 'not_landed':
      return new ForgeError(
        'state_invalid',
        `${id} is not ${refusal.to}: ${refusal.attempt.name} has not been merged`,
        {
          hint: `forge run ${id} --merge`,
          details: { ...place, attempt: refusal.attempt.id },
          cause: refusal,
        },
      );
    case 'unfinished': {
      const { attempt } = refusal;
      return new ForgeError(
        'state_invalid',
        `${id} has an unfinished attempt: ${attempt.name} (${attempt.id})`,
        {
          hint: `forge task close ${id} --force --reason "…"`,
          details: { ...place, attempt: attempt.id },
          cause: refusal,
        },
      );
    }
    case 'landing':
      return new ForgeError('state_invalid', `${id} is being merged at this moment`, {
        hint: show,
        details: { id, landing: refusal.merge },
      });
    case 'kept_parked_in':
      return keptParked({ id, state: refusal.state });
    case 'no_comment':
      return new ForgeError('not_found', `No comment ${refusal.comment} on ${id}`, {
        hint: show,
        details: { id, comment: refusal.comment },
      });
    case 'no_lease':
      return new ForgeError('state_invalid', `The claim ${refusal.fence} of ${id} has no lease to renew`, {
        hint: `forge claim ${id} --lease 60`,
        details: { id },
      });
    case 'nothing_lost': {
      const what = refusal.field === undefined ? '' : ` of ${refusal.field}`;
      return new ForgeError('not_found', `${id} has no value${what} that lost a merge`, {
        hint: 'forge conflicts',
        details: { id, names: refusal.names },
      });
    }
    case 'refused':
      return new ForgeError('state_invalid', `${id} cannot be changed that way: ${refusal.why}`, {
        hint: toHints(id)[refusal.next],
        details: place,
      });
    case 'cycle':
    case 'walk_too_long':
    case 'no_dependency':
      return explainGraphRefusal(id, refusal);
    case 'agent_paused':
    case 'project_paused':
    case 'taken':
    case 'role':
    case 'blocked':
    case 'closed':
    case 'parked':
    case 'kept_parked':
    case 'archived':
    case 'kept_archived':
      return explainRefusal({ ...refusal, task: place, ...more });
  }
}

/** The refusal that an error tells of, where the caller can do something about it and try again. */
export function findRefusal(error: unknown): TaskRefusal | undefined {
  const cause = isForgeError(error) ? error.cause : undefined;
  const isRefusal = typeof cause === 'object' && cause !== null && 'outcome' in cause;
  return isRefusal ? (cause as TaskRefusal) : undefined; // made above
}

function toForceHints(id: string): Readonly<Record<ForceCommand, string>> {
  return {
    release: `forge release ${id} --force`,
    close: `forge task close ${id} --force --reason "…"`,
    claim: `forge claim ${id} --force`,
  };
}

function hintOfEdge(
  id: string,
  { from, to, is_closing, next }: Extract<TaskRefusal, { outcome: 'no_edge' }>,
): string {
  if (from === to) return `forge task show ${id}`;
  if (is_closing) return `forge task close ${id} --reason "…"`;
  return next[0] === undefined ? 'forge workflow show' : `forge task transition ${id} ${next[0]}`;
}

function toHints(
  id: string,
): Readonly<Record<Extract<LifeDecision, { outcome: 'refused' }>['next'], string>> {
  return {
    reopen: `forge task reopen ${id}`,
    release: `forge release ${id}`,
    owner: `forge task update ${id} --status in_progress --assignee <identity>`,
    state: `forge task update ${id} --status open --state backlog`,
    transition: `forge task transition ${id} <state>`,
  };
}
