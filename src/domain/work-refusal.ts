import type { Approval, Merge, Review, RunState } from '#contract/attempt.ts';
import { ForgeError } from '#kernel/errors.ts';
import type { Loss } from './run-hold.ts';
import type { Life } from './task-record.ts';

/** Why something about attempts, runs, reviews, merges or approvals was not written. */
export type WorkRefusal =
  | {
      readonly outcome: 'task_closed';
      readonly task: { readonly id: string } & Pick<Life, 'status' | 'state'>;
    }
  /** The name, or the id, is another attempt's; so that the caller widens it. */
  | {
      readonly outcome: 'name_taken';
      readonly id: string;
      readonly name: string;
      readonly attempt: string;
    }
  /** The ports are those of another attempt whose folder is there. */
  | {
      readonly outcome: 'port_taken';
      readonly id: string;
      readonly port: number;
      readonly attempt: string;
    }
  | { readonly outcome: 'nothing_merged'; readonly attempt: NamedAttempt & { readonly target: string } }
  | {
      readonly outcome: 'task_lost';
      readonly task_id: string;
      readonly fence: number | null;
      readonly loss: Loss;
    }
  | {
      readonly outcome: 'at_work';
      readonly attempt: NamedAttempt;
      readonly run: { readonly id: string; readonly agent: string };
    }
  | {
      readonly outcome: 'run_moved';
      readonly id: string;
      readonly state: RunState;
      readonly asked: RunState;
      readonly to: RunState;
    }
  | {
      readonly outcome: 'no_run_edge';
      readonly id: string;
      readonly from: RunState;
      readonly to: RunState;
      readonly allowed: readonly RunState[];
    }
  | {
      readonly outcome: 'run_ended';
      readonly id: string;
      readonly state: RunState;
      readonly wants: 'stop' | 'approval';
    }
  | {
      readonly outcome: 'answered';
      readonly approval: Pick<Approval, 'id' | 'run_id' | 'state' | 'answered_by'>;
    }
  | {
      readonly outcome: 'in_queue';
      readonly task_id: string;
      readonly attempt_id: string;
      readonly merge: Pick<Merge, 'id' | 'state'>;
    }
  | { readonly outcome: 'merge_over'; readonly merge: Pick<Merge, 'id' | 'task_id' | 'state'> }
  | {
      readonly outcome: 'merge_not_begun';
      readonly merge: Pick<Merge, 'id' | 'task_id' | 'state'>;
      readonly wanted: string;
    }
  | { readonly outcome: 'review_running'; readonly task_id: string; readonly review: string }
  /** Its task was deleted, and only while that is the caller's may it end. */
  | {
      readonly outcome: 'review_gone';
      readonly review: Pick<Review, 'id' | 'task_id'>;
      readonly fence: number;
    }
  | { readonly outcome: 'review_over'; readonly review: Pick<Review, 'id' | 'task_id' | 'status'> };

interface NamedAttempt {
  readonly id: string;
  readonly name: string;
  readonly task_id: string;
}

/** The error that tells of it, with the command to type next. The one place where such a refusal becomes an error. */
export function explainWorkRefusal(refusal: WorkRefusal): ForgeError {
  switch (refusal.outcome) {
    case 'task_closed': {
      const { id, status, state } = refusal.task;
      return new ForgeError('state_invalid', `${id} is closed; nobody can begin to work on it`, {
        hint: `forge task reopen ${id}`,
        details: { id, status, state },
      });
    }
    case 'name_taken': {
      const { id, name, attempt } = refusal;
      return new ForgeError('already_exists', `There is an attempt ${name} already`, {
        details: { id, name, attempt },
      });
    }
    case 'port_taken': {
      const { id, port, attempt } = refusal;
      return new ForgeError('already_exists', `Port ${port} belongs to attempt ${attempt}`, {
        details: { id, port, attempt },
      });
    }
    case 'nothing_merged': {
      const { id, name, task_id, target } = refusal.attempt;
      return new ForgeError(
        'state_invalid',
        `${name} was not merged into ${target}: no commit of it is named`,
        {
          hint: `forge task show ${task_id}`,
          details: { id, task_id, target },
        },
      );
    }
    case 'task_lost': {
      const { task_id, fence, loss } = refusal;
      return new ForgeError('fence_conflict', `No agent is started: ${loss.message}`, {
        hint: `forge task show ${task_id}`,
        details: { id: task_id, fence, loss: loss.code },
      });
    }
    case 'at_work': {
      const { attempt, run } = refusal;
      return new ForgeError(
        'state_invalid',
        `${run.agent} is still at work in ${attempt.name} (run ${run.id})`,
        {
          hint: `forge runs stop ${run.id}`,
          details: { id: attempt.task_id, attempt: attempt.id, run: run.id },
        },
      );
    }
    case 'run_moved': {
      const { id, state, asked, to } = refusal;
      return new ForgeError('state_invalid', `Run ${id} is ${state}, not ${asked}: somebody moved it`, {
        hint: `forge runs show ${id}`,
        details: { id, from: state, to },
      });
    }
    case 'no_run_edge': {
      const { id, from, to, allowed } = refusal;
      return new ForgeError('state_invalid', `Run ${id} is ${from} and cannot become ${to}`, {
        hint: `forge runs show ${id}`,
        details: { id, from, to, allowed },
      });
    }
    case 'run_ended': {
      const { id, state, wants } = refusal;
      const message =
        wants === 'stop'
          ? `Run ${id} has ended: ${state}`
          : `Run ${id} has ended and cannot ask for anything`;
      return new ForgeError('state_invalid', message, {
        hint: `forge runs show ${id}`,
        details: { id, state },
      });
    }
    case 'answered': {
      const { id, run_id, state, answered_by } = refusal.approval;
      const who = answered_by === null ? '' : ` by ${answered_by}`;
      return new ForgeError('state_invalid', `Approval ${id} was answered already${who}: ${state}`, {
        hint: `forge runs show ${run_id}`,
        details: { id, state, answered_by },
      });
    }
    case 'in_queue': {
      const { task_id, attempt_id, merge } = refusal;
      return new ForgeError('state_invalid', `Attempt ${attempt_id} of ${task_id} is in the queue already`, {
        hint: `forge task show ${task_id}`,
        details: { id: task_id, attempt: attempt_id, merge: merge.id, state: merge.state },
      });
    }
    case 'merge_over':
    case 'merge_not_begun': {
      const { id, task_id, state } = refusal.merge;
      const message =
        refusal.outcome === 'merge_over'
          ? `Merge ${id} is over: ${state}`
          : `Merge ${id} was not begun and cannot be ${refusal.wanted}`;
      return new ForgeError('state_invalid', message, {
        hint: `forge task show ${task_id}`,
        details: { id, state },
      });
    }
    case 'review_running':
      return new ForgeError('state_invalid', `A review of ${refusal.task_id} is running: ${refusal.review}`, {
        hint: `forge task show ${refusal.task_id}`,
        details: { id: refusal.task_id, review: refusal.review },
      });
    case 'review_gone': {
      const { id, task_id } = refusal.review;
      return new ForgeError('fence_conflict', `${task_id} was deleted: its review ${id} counts no more`, {
        hint: `forge task restore ${task_id}`,
        details: { id: task_id, fence: refusal.fence, review: id },
      });
    }
    case 'review_over': {
      const { id, task_id, status } = refusal.review;
      return new ForgeError('state_invalid', `Review ${id} is over: ${status}`, {
        hint: `forge task show ${task_id}`,
        details: { id, status },
      });
    }
  }
}
