import type { Attempt, Run } from '#contract/attempt.ts';
import type { Task } from '#contract/task.ts';
import type { AgentFault } from '#domain/decide-suspension.ts';
import { submitTarget } from '#domain/gate-targets.ts';
import type { Loss } from '#domain/run-hold.ts';
import { kindOf, roleOf, standingState } from '#domain/workflow.ts';
import { harvestCheckout, type Harvest, type HarvestRequest } from '#git/harvest-checkout.ts';
import { readRef } from '#git/read-ref.ts';
import { isForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { nameFiles } from '#kernel/name-files.ts';
import { endSentence } from '#kernel/text.ts';
import { findSecretsOf } from './agent-secrets.ts';
import { openControl, toCheckout } from './attempt-workspace.ts';
import type { Annotation } from '#domain/plan-transition.ts';
import { endPlanning } from './end-planning.ts';
import type { Engine } from './engine.ts';
import { findDoneBefore } from './find-done-before.ts';
import { findRunLoss, findStanding } from './find-standing.ts';
import { readFolderNote } from './folder-note.ts';
import { graceSignal } from './grace-signal.ts';
import { joinSentences, listHarvestWarnings } from './harvest-warnings.ts';
import { wantsSignature } from './landing-rules.ts';
import { listMarked } from './list-marked.ts';
import { isLinkTracked, writeLinkFile } from './link-file.ts';
import type { AgentEnd } from './run-agent.ts';
import { tellFailure } from './tell-failure.ts';
import { transitionTask, type TransitionRequest } from './transition-task.ts';
import { systemWriter, type WorkPlace } from './work.ts';

/** What has become of a run, after its program has ended and what it left was looked at. */
export interface Conclusion {
  readonly outcome: NonNullable<Run['outcome']>;
  readonly message: string | null;
  readonly retry_after: string | null;
  /** Why its task was taken from it, where it was. */
  readonly lost?: Loss['code'] | undefined;
}

/** Where Forge itself ends, nobody wanted the run stopped: it is taken up again. */
export function asCutOff({ signal }: Pick<WorkPlace, 'signal'>, concluded: Conclusion): Conclusion {
  const isCut = concluded.outcome === 'stopped' && signal.aborted;
  return isCut ? { ...concluded, outcome: 'crashed', message: 'Forge was stopped' } : concluded;
}

/** The host commits what an agent leaves. An agent that says it is done and has changed nothing is not done. */
export async function concludeWork(
  place: WorkPlace,
  work: { readonly task: Task; readonly attempt: Attempt; readonly run: Run },
  end: AgentEnd,
): Promise<Conclusion> {
  const conclusion = await concludeChanges(place, work, end);
  if (conclusion.message === null) return conclusion;
  // Names of files and branches that the agent chose, and what git says of them.
  const { redact } = await findSecretsOf(place, work.run);
  return { ...conclusion, message: redact(conclusion.message) };
}

async function concludeChanges(
  place: WorkPlace,
  { task, attempt, run }: { readonly task: Task; readonly attempt: Attempt; readonly run: Run },
  end: AgentEnd,
): Promise<Conclusion> {
  const { message = null, retry_after = null, outcome } = end;
  // Whoever stopped it decides what becomes of what it left: that stays in its folder, uncommitted.
  if (outcome === 'stopped' || outcome === 'cap_reached')
    return { outcome, message, retry_after, lost: end.lost };
  try {
    using grace = graceSignal(place.signal, LIMITS.harvest_grace_ms);
    const { signal } = grace;
    const harvest = await harvestAttempt(place, { task, attempt, agent: run.agent, signal });
    const marked = await findMarked(place, attempt, harvest);
    if (marked.length > 0)
      return { outcome: 'failed', message: `Conflicts still stand in ${nameFiles(marked)}`, retry_after };
    const isIdle = harvest.changed_files === 0;
    const told = joinSentences([message, ...listHarvestWarnings(harvest, attempt)]);
    if (outcome !== 'completed' || !isIdle) return { outcome, message: told, retry_after };
    if (end.denials > 0)
      return {
        outcome: 'denied',
        message: `${end.denials === 1 ? '1 request was' : `${end.denials} requests were`} refused, and nothing changed`,
        retry_after,
      };
    const done = await findDoneBefore(place, { task, attempt });
    if (done !== undefined) return { outcome, message: joinSentences([told, done]), retry_after };
    // It answered the interrupt as if it were done: another try would only reach the cap again.
    if (end.reached !== undefined) return { outcome: 'cap_reached', message: end.reached, retry_after };
    const idle = `It ended without changing a file; where ${attempt.target} has it already: forge task close ${task.id} --reason "…"`;
    return { outcome: 'no_change', message: idle, retry_after };
  } catch (error) {
    if (!isForgeError(error)) throw error;
    // Forge itself ends: the files stay as they are, and are looked at when it is started again.
    if (error.code === 'interrupted') return { outcome: 'stopped', message: error.message, retry_after };
    return { outcome: 'failed', message: tellFailure(error), retry_after };
  }
}

/** The files in which the agent left lines of a conflict. */
async function findMarked(place: WorkPlace, attempt: Attempt, { head }: Harvest): Promise<readonly string[]> {
  const target = await readRef(place.repo, `refs/heads/${attempt.target}`);
  return target === undefined ? [] : listMarked(place, await openControl(place), { attempt, head, target });
}

interface Harvested {
  readonly task: Task;
  readonly attempt: Attempt;
  readonly agent: string | null;
  readonly signal?: AbortSignal | undefined;
}

/** Everything in the attempt's folder becomes a commit on its branch. */
export async function harvestAttempt(place: WorkPlace, work: Harvested): Promise<Harvest> {
  return place.folders.hold(work.attempt, 'harvest', () => harvestHeld(place, work));
}

async function harvestHeld(place: WorkPlace, { task, attempt, agent, signal }: Harvested): Promise<Harvest> {
  const control = await openControl(place);
  const checkout = toCheckout(place, control, attempt);
  const { redact } = await findSecretsOf(place, attempt);
  const request: HarvestRequest = {
    message: redact(task.title),
    trailers: {
      'Forge-Task': task.id,
      'Forge-Attempt': attempt.id,
      ...(agent !== null && { 'Forge-Agent': redact(agent) }),
    },
    large_files: 'skip',
    signal,
    sign: wantsSignature(place, control),
    copied_files: readFolderNote(place, attempt.id).copied,
  };
  let harvest = await harvestCheckout(control, checkout, request);
  const isFirst = harvest.changed_files > 0 && (await isLinkTracked(place, control, checkout));
  if (isFirst && writeLinkFile(place, { attempt, task }))
    harvest = { ...(await harvestCheckout(control, checkout, request)), ...pickSeen(harvest) };
  const warnings = listHarvestWarnings(harvest, attempt);
  const { id } = attempt;
  // Where it has strayed there is a warning of it.
  let strayed: string | undefined;
  if (warnings.length > 0) {
    strayed = harvest.strayed === undefined ? undefined : redact(harvest.strayed);
    for (const text of warnings.map(redact))
      place.watch({ kind: 'note', task_id: task.id, attempt_id: id, text });
  }
  // Nobody may have looked while it was away.
  if (strayed !== undefined) await place.store.changeAttempt({ id, strayed }, systemWriter(place));
  await place.store.changeAttempt({ id, head_commit: harvest.head, strayed: null }, systemWriter(place));
  return harvest;
}

/** What only the first look could see: the second finds all as it should be. */
function pickSeen({
  strayed,
  salvaged,
  flattened,
  rescued,
  unfiltered,
  unsigned,
  pipes,
}: Harvest): Partial<Harvest> {
  return {
    rescued,
    unfiltered,
    pipes,
    ...(unsigned !== undefined && { unsigned }),
    ...(flattened !== undefined && { flattened }),
    ...(strayed !== undefined && { strayed }),
    ...(salvaged !== undefined && { salvaged }),
  };
}

/** Where the task goes after a run of whoever works on it. */
export async function moveAfterWork(
  engine: Engine,
  { task, run }: { readonly task: Task; readonly run: Run },
  conclusion: Conclusion,
  failures: { readonly count: number; readonly limit: number },
): Promise<Task> {
  try {
    return await moveHeld(engine, { task, run }, conclusion, failures);
  } catch (error) {
    // Somebody has moved it on, or given it to somebody else, in this very moment: what they decided stands.
    if (!isForgeError(error) || error.code !== 'fence_conflict') throw error;
    return (await findStanding(engine.store, task.id))?.task ?? task;
  }
}

async function moveHeld(
  engine: Engine,
  { task, run }: { readonly task: Task; readonly run: Run },
  { outcome, message, lost }: Conclusion,
  failures: { readonly count: number; readonly limit: number },
): Promise<Task> {
  const { workflow } = engine;
  const state = standingState(workflow, task);
  const { fence, in_state } = run;
  // Somebody has moved it on: what they decided stands.
  if (kindOf(workflow, state) !== 'active' || roleOf(workflow, state) !== run.role) return task;
  // A run of an older Forge does not know what it had the task by.
  const held = fence === null || in_state === null ? undefined : { fence, in_state };
  // Nothing at all is done for a run that has lost its task, also not what comes before the move.
  if ((await findRunLoss(engine.store, run)) !== undefined) return task;
  const move = (to: string, reason: string, annotation?: Annotation): Promise<Task> =>
    moveOrBlock(engine, task.id, { to, reason, annotation, held });
  switch (outcome) {
    case 'completed': {
      const waits = await endPlanning(engine, { task, state });
      if (waits !== undefined) return move(workflow.initial, waits.message, waits);
      const to = submitTarget(workflow, state);
      return to === undefined ? task : move(to, `${run.agent} is done`);
    }
    case 'stopped':
      // There is nobody any more who could go on with it.
      if (lost === 'removed' || !(await engine.agents.isManaged(run.agent)))
        return move(workflow.initial, `${run.agent} was removed`, {
          code: 'agent_removed',
          message: `${run.agent}, who worked on it, was removed`,
        });
      return annotate(
        engine,
        task,
        { code: 'stopped', message: message ?? 'Its run was stopped' },
        held?.fence,
      );
    case 'cap_reached':
      return annotate(
        engine,
        task,
        { code: 'cap_reached', message: message ?? 'A cap is reached' },
        held?.fence,
      );
    case 'usage_limit':
    case 'unavailable':
    case 'auth':
    case 'not_installed':
      return move(workflow.initial, message ?? outcome, describeFault(run.agent, outcome, message));
    case 'no_change':
    case 'denied':
    case 'failed':
    case 'timeout':
    case 'crashed': {
      const why = message ?? outcome;
      const isSpent = failures.count >= failures.limit && workflow.blocked !== undefined;
      const text = isSpent ? `${failures.count} tries in a row failed; the last: ${why}` : why;
      return move(isSpent ? (workflow.blocked ?? workflow.initial) : workflow.initial, text, {
        code: isSpent ? 'retry_budget' : 'run_failed',
        message: text,
      });
    }
  }
}

/** Nothing is wrong with the task: it waits until its agent can work, or for another one. */
export function describeFault(agent: string, fault: AgentFault, message: string | null): Annotation {
  const why = message ?? fault.replaceAll('_', ' ');
  return {
    code: fault,
    message: `${agent} could not work: ${endSentence(why)} It is tried again later; at once with forge agent resume ${agent}`,
  };
}

/** What keeps a task from going on is for a person to see: steps that nobody trusts, a guard. */
export async function moveOrBlock(
  engine: Engine,
  id: string,
  move: Pick<TransitionRequest, 'to' | 'annotation' | 'held'> & { readonly reason: string },
): Promise<Task> {
  const { blocked } = engine.workflow;
  try {
    return await transitionTask(engine, { id, ...move });
  } catch (error) {
    const isTheirs = isForgeError(error) && error.code === 'fence_conflict';
    if (!isForgeError(error) || isTheirs || blocked === undefined || move.to === blocked) throw error;
    const { code, message } = error;
    const annotation = { code, message };
    return transitionTask(engine, { id, to: blocked, reason: message, annotation, held: move.held });
  }
}

/** Why it does not go on, without moving it. */
export async function annotate(
  { store, by }: Engine,
  task: Task,
  { code, message }: Annotation,
  /** Only while it is the task's. */
  fence?: number,
): Promise<Task> {
  const note = { code, message, at: new Date(by.now).toISOString() };
  const workflow_fields = new Map([['error_annotation', note]]);
  return store.updateTask({ id: task.id, fence, workflow_fields }, by);
}
