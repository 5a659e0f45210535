import type { Review } from '#contract/attempt.ts';
import type { Task } from '#contract/task.ts';
import { AUDITOR_SUSPENDED } from '#domain/find-wait.ts';
import { describeSuspension, isAgentFault, type Suspension } from '#domain/decide-suspension.ts';
import { roleOf } from '#domain/workflow.ts';
import { isForgeError } from '#kernel/errors.ts';
import type { Annotation } from '#domain/plan-transition.ts';
import type { ActionOutcome } from './actions.ts';
import type { Audited } from './audit-review.ts';
import { endRun } from './end-run.ts';
import type { Engine } from './engine.ts';
import { findStanding } from './find-standing.ts';
import { readSuspension } from './read-suspension.ts';
import { annotate } from './settle-run.ts';
import { settleVerdict } from './settle-verdict.ts';
import { createRun } from './start-run.ts';
import { enterAgain } from './transition-task.ts';
import { findHoldLoss, systemWriter, toHold, type Hold, type WorkPlace } from './work.ts';

/** What the workshop lends. */
export interface AuditHands {
  readonly place: WorkPlace;
  readonly engine: () => Engine;
  /** What has passed goes on without being asked. */
  readonly leads_on: boolean;
  readonly follow: (taskId: string, work: () => Promise<unknown>) => void;
}

export interface Audit {
  readonly task: Task;
  readonly gate: string;
  readonly review: Review;
}

/** The auditor looks at the very commit that was checked, in a folder of its own; what it finds moves the task later. */
export async function startAudit(hands: AuditHands, { task, gate, review }: Audit): Promise<ActionOutcome> {
  const { place } = hands;
  const { auditReview } = await import('./audit-review.ts');
  const attempt = await place.store.getAttempt(review.attempt_id ?? '');
  const role = roleOf(place.workflow(), gate) ?? 'reviewer';
  const holder = task.roles?.[role];
  const name = holder !== undefined && 'agent' in holder ? holder.agent : '';
  const auditor = place.agents.find(name);
  // The agent was removed from the machine in this very moment: the next start looks again.
  if (auditor === undefined) return { outcome: 'failed', message: `${name} is not started by Forge` };
  const hold = toHold(await place.store.readStanding(task.id));
  const suspension = await readSuspension(place, name);
  if (suspension !== undefined) return postpone(hands, { task, review }, suspension);
  const run = await createRun(place, { attempt, role, agent: auditor, hold });
  hands.follow(task.id, async () => {
    const audited = await auditReview(place, { task, attempt, review, run, agent: auditor });
    await endRun(place, run, audited.end, audited.conclusion);
    await concludeAudit(hands, { task, gate, hold, agent: name }, audited);
  });
  return { outcome: 'passed', message: `run ${run.id} audits it` };
}

/** No use in asking an auditor that cannot work: its next try is that of the process that looks after the project. */
async function postpone(
  { place, engine }: AuditHands,
  { task, review }: Pick<Audit, 'task' | 'review'>,
  suspension: Suspension,
): Promise<ActionOutcome> {
  await place.store.finishReview({ id: review.id, status: 'void' }, systemWriter(place));
  await annotate(engine(), task, toSuspended(suspension.agent, suspension.reason));
  return { outcome: 'passed', message: describeSuspension(suspension) };
}

function toSuspended(agent: string, reason: string): Annotation {
  return {
    code: AUDITOR_SUSPENDED,
    message: `It waits for the verdict of ${agent}, which could not work: ${reason}`,
  };
}

async function concludeAudit(
  { place, leads_on, ...hands }: AuditHands,
  {
    task: { id },
    gate,
    hold,
    agent,
  }: Pick<Audit, 'task' | 'gate'> & { readonly hold: Hold; readonly agent: string },
  { review, why, conclusion }: Audited,
): Promise<void> {
  const engine = hands.engine();
  const standing = await findStanding(engine.store, id);
  // The task was taken away while the auditor looked: where it still is to be reviewed, the next start does that.
  if (standing === undefined || findHoldLoss(hold, standing) !== undefined) return;
  // So it is with what was cut off here, and where the work went to somebody else.
  if (review.status === 'void' && (place.signal.aborted || review.cleared_at !== null)) return;
  const { task } = standing;
  // A removed auditor says nothing about the work: the gate is entered anew, and waits for the next holder.
  if (conclusion.lost === 'removed') return enterAgain(engine, task, ['on_enter', 'after_enter']);
  try {
    if (isAgentFault(conclusion.outcome)) {
      await annotate(engine, task, toSuspended(agent, conclusion.message ?? conclusion.outcome), hold.fence);
      return;
    }
    // No verdict is no verdict on the work: the auditor is asked again, and a person when that was in vain.
    if (review.status === 'void' && why === undefined)
      return await enterAgain(engine, task, ['on_enter', 'after_enter']);
    await settleVerdict(engine, { task, gate, review, why, leads_on, held: hold });
  } catch (error) {
    // It was taken away in this very moment.
    if (!isForgeError(error) || error.code !== 'fence_conflict') throw error;
  }
}
