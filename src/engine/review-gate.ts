import type { Attempt, Review, StepResult } from '#contract/attempt.ts';
import type { Task } from '#contract/task.ts';
import { rejectionTarget } from '#domain/gate-targets.ts';
import { toIso } from '#kernel/clock.ts';
import { ForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { toAttemptEnvironment } from './attempt-environment.ts';
import { openControl, findWorkspace } from './attempt-workspace.ts';
import type { ActionOutcome } from './actions.ts';
import type { Engine } from './engine.ts';
import { readTree } from './read-tree.ts';
import { runSteps } from './run-steps.ts';
import { setUpForChecks } from './set-up-folder.ts';
import { harvestAttempt } from './settle-run.ts';
import { systemWriter, type WorkPlace } from './work.ts';

/** The commands that decide whether a task may pass: its own, else the project's. */
export function listSteps(place: Pick<WorkPlace, 'settings'>, task: Task): readonly string[] {
  return task.review_config?.ci_steps ?? place.settings().review.ci_steps;
}

/** What can be said before the task moves. */
export async function checkReviewable(place: WorkPlace, task: Task): Promise<void> {
  const steps = listSteps(place, task);
  const { length } = await place.store.listAttempts({ task_id: task.id, state: 'active' });
  if (length > 1) throw undecided(task, length);
  if (steps.length === 0) return;
  place.requireTrust(steps);
  if (length > 0) return;
  throw new ForgeError('state_invalid', `${task.id} has no attempt that its checks could run on`, {
    hint: `forge run ${task.id} --agent <name>`,
    details: { id: task.id, ci_steps: steps },
  });
}

/** A gate is for one attempt: somebody has to say for which. */
export function undecided({ id }: Task, count: number): ForgeError {
  return new ForgeError('state_invalid', `${id} has ${count} unfinished attempts`, {
    hint: `forge attempt compare ${id}, then forge attempt pick <attempt>`,
    details: { id, attempts: count },
  });
}

/**
 * The checks on exactly one commit of the attempt. Gives the review as it stands afterwards: failed, passed, or still
 * running because somebody has to audit it.
 */
export async function checkAttempt(
  place: WorkPlace,
  checked: { readonly task: Task; readonly attempt: Attempt; readonly audited: boolean },
): Promise<{ review: Review; failed: StepResult | undefined }> {
  return place.folders.hold(checked.attempt, 'review', () => checkHeld(place, checked));
}

async function checkHeld(
  place: WorkPlace,
  { task, attempt, audited }: { readonly task: Task; readonly attempt: Attempt; readonly audited: boolean },
): Promise<{ review: Review; failed: StepResult | undefined }> {
  const { store, watcher } = place;
  const steps = listSteps(place, task);
  place.requireTrust(steps);
  const { head } = await harvestAttempt(place, { task, attempt, agent: attempt.agent });
  const review = await store.startReview(
    { id: crypto.randomUUID(), task_id: task.id, attempt_id: attempt.id, head_commit: head, watcher },
    systemWriter(place),
  );
  place.watch({ kind: 'review', review });
  const results = await runReviewSteps(place, {
    attempt,
    steps,
    commit: head,
    finished: (result) => noteStep(place, review.id, result),
  });
  const failed = results.find(({ outcome }) => outcome !== 'passed');
  if (failed === undefined && audited) return { review, failed };
  // A check that was cut off has said nothing about the work.
  const status = failed === undefined ? 'passed' : failed.outcome === 'stopped' ? 'void' : 'failed';
  const ended = await store.finishReview({ id: review.id, status }, systemWriter(place));
  place.watch({ kind: 'review', review: ended });
  return { review: ended, failed };
}

/** The same tree need not be tested twice, whichever commit it stands in. */
export async function runReviewSteps(
  place: WorkPlace,
  {
    attempt,
    steps,
    commit,
    finished,
  }: {
    readonly attempt: Attempt;
    readonly steps: readonly string[];
    readonly commit: string;
    readonly finished: (result: StepResult) => Promise<void>;
  },
): Promise<StepResult[]> {
  const { store, clock } = place;
  const { review } = place.settings();
  const tree = await readTree(place, commit);
  const results: StepResult[] = [];
  for (const command of steps) {
    const known = await store.findStep({ tree, command });
    // Another tree may need other packages than those that are there.
    const unready = known === undefined ? await setUpForChecks(place, attempt) : undefined;
    if (unready !== undefined) {
      results.push(unready);
      await finished(unready);
      break;
    }
    const [result] =
      known === undefined
        ? await runSteps([command], {
            cwd: attempt.path,
            env: toAttemptEnvironment(place, attempt, { CI: 'true' }),
            host: await place.processes(),
            marker: `${attempt.id}-check`,
            timeout_ms: review.step_timeout_s * 1000,
            output_bytes: review.step_output_bytes,
            signal: place.signal,
            line: (text) =>
              place.watch({ kind: 'step', task_id: attempt.task_id, attempt_id: attempt.id, text }),
          })
        : [known];
    if (result === undefined) break;
    if (known === undefined && result.outcome === 'passed')
      await store.keepStep({ tree, command, result, now: clock.now() });
    results.push(result);
    await finished(result);
    if (result.outcome !== 'passed') break;
  }
  return results;
}

/** A task passes the gate by itself where nobody made an attempt and nothing is to be checked. */
export async function reviewTask(
  place: WorkPlace,
  engine: Engine,
  { task, gate, auditor }: { task: Task; gate: string; auditor: Auditor | undefined },
): Promise<ActionOutcome> {
  const workspace = await findWorkspace(place, await openControl(place), task.id);
  if (workspace === undefined) {
    await noteEmptyReview(place, task);
    await passReview(engine, task);
    return { outcome: 'passed', message: 'nothing to check' };
  }
  const { review, failed } = await checkAttempt(place, {
    task,
    attempt: workspace.attempt,
    audited: auditor !== undefined,
  });
  if (failed?.outcome === 'stopped')
    return { outcome: 'failed', message: 'Forge was stopped during the checks' };
  if (failed !== undefined) return reject(engine, gate, describeFailure(failed));
  if (auditor !== undefined) return auditor(review);
  await passReview(engine, task);
  return { outcome: 'passed', message: `review ${review.id} passed` };
}

/** Every time that a task enters the gate has its row. */
async function noteEmptyReview(place: WorkPlace, task: Task): Promise<void> {
  const { store, watcher } = place;
  const none = { attempt_id: null, head_commit: null };
  const { id } = await store.startReview(
    { id: crypto.randomUUID(), task_id: task.id, ...none, watcher },
    systemWriter(place),
  );
  await store.finishReview({ id, status: 'passed' }, systemWriter(place));
}

/** Starts whoever looks at it besides; what they find is told later. */
export type Auditor = (review: Review) => Promise<ActionOutcome>;

export function reject(engine: Engine, gate: string, reason: string): ActionOutcome {
  const to = rejectionTarget(engine.workflow, gate);
  return to === undefined ? { outcome: 'failed', message: reason } : { outcome: 'cascaded', to, reason };
}

/** From now on the task may go on to the next gate. */
export async function passReview(engine: Engine, task: Task): Promise<Task> {
  const { store, by } = engine;
  const at = toIso(by.now);
  return store.updateTask({ id: task.id, workflow_fields: new Map([['review_passed_at', at]]) }, by);
}

export function describeFailure({ command, outcome, exit_code, output }: StepResult): string {
  const how = outcome === 'failed' ? `ended with ${exit_code ?? 'a signal'}` : outcome.replaceAll('_', ' ');
  const tail = output.slice(-LIMITS.reason_tail_length);
  return `\`${command}\` ${how}${tail === '' ? '' : `: ${tail}`}`;
}

async function noteStep(place: WorkPlace, id: string, result: StepResult): Promise<void> {
  place.watch({
    kind: 'review',
    review: await place.store.addStepResult({ id, result }, systemWriter(place)),
  });
}
