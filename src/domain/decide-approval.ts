import type { AlwaysRule, Approval } from '#contract/attempt.ts';
import { toIso } from '#kernel/clock.ts';
import { decideRunOpen, type KeptRun } from './decide-run.ts';
import type { WorkEvent, WorkEventType } from './work-event.ts';
import type { WorkRefusal } from './work-refusal.ts';

/** What an agent asks for. */
export interface ApprovalWish {
  readonly id: string;
  readonly tool: string;
  readonly input: unknown;
  readonly command?: string | undefined;
  readonly paths?: readonly string[] | undefined;
}

interface ApprovalPlan {
  readonly outcome: 'save';
  readonly approval: Approval;
  readonly events: readonly WorkEvent[];
}

/** A run that has ended asks for nothing. */
export function decideAsk(
  run: Pick<KeptRun, 'id' | 'task_id' | 'state' | 'ended_at'>,
  { id, tool, input, command, paths = [] }: ApprovalWish,
  now: number,
): ApprovalPlan | Extract<WorkRefusal, { outcome: 'run_ended' }> {
  const over = decideRunOpen(run, 'approval');
  if (over !== undefined) return over;
  return toPlan('run.approval_requested', {
    id,
    run_id: run.id,
    task_id: run.task_id,
    tool,
    input: input ?? null,
    command: command ?? null,
    paths: [...paths],
    state: 'pending',
    asked_at: toIso(now),
    answered_at: null,
    answered_by: null,
    reason: null,
    always: null,
    forgotten_at: null,
  });
}

export interface Answering {
  readonly state: Exclude<Approval['state'], 'pending'>;
  readonly reason?: string | null | undefined;
  readonly always?: AlwaysRule | null | undefined;
}

/** No answer means no: what a run that has ended was waiting for is answered so. */
export const EXPIRED: Answering = { state: 'expired' };

/** The approval after its answer: it is answered once. */
export function decideAnswer(
  before: Approval,
  { state, reason = null, always = null }: Answering,
  { by, now }: { readonly by: string; readonly now: number },
): ApprovalPlan | Extract<WorkRefusal, { outcome: 'answered' }> {
  if (before.state !== 'pending') return { outcome: 'answered', approval: before };
  const answered = { state, answered_at: toIso(now), answered_by: by, reason, always };
  return toPlan('run.approval_given', { ...before, ...answered });
}

/** Whether it still allows something for the rest of its task. */
export function isStanding({ always, forgotten_at }: Pick<Approval, 'always' | 'forgotten_at'>): boolean {
  return always !== null && forgotten_at === null;
}

/** Of the approvals of a task those that are forgotten, all or one by a beginning of its id, as they are then. */
export function forgetStanding(
  approvals: readonly Approval[],
  id: string | undefined,
  now: number,
): ApprovalPlan[] {
  return approvals
    .filter((one) => isStanding(one) && (id === undefined || one.id.startsWith(id)))
    .map((one) => toPlan('run.approval_forgotten', { ...one, forgotten_at: toIso(now) }));
}

function toPlan(type: WorkEventType, approval: Approval): ApprovalPlan {
  return { outcome: 'save', approval, events: [{ type, task_id: approval.task_id, data: { approval } }] };
}
