import type { Review } from '#contract/attempt.ts';
import type { Task } from '#contract/task.ts';
import { decideResume, type LostTask, type ResumeStep } from '#domain/decide-resume.ts';
import { askPeople, isSaidByPerson, withoutSpentAudits } from '#domain/decide-review.ts';
import type { Suspension } from '#domain/decide-suspension.ts';
import { failureTarget, passTarget } from '#domain/gate-targets.ts';
import { kindOf, roleOf, standingState } from '#domain/workflow.ts';
import { isForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { isSameProcess } from '#process/process-identity.ts';
import type { WatchedTask } from '#store/attempt-store.ts';
import type { Annotation } from '#domain/plan-transition.ts';
import { isThere } from './is-there.ts';
import { findRepeat } from './audit-review.ts';
import { isInTarget } from './note-landed.ts';
import { countFailures } from './count-failures.ts';
import { discardUnbegun } from './discard-unbegun.ts';
import type { Engine } from './engine.ts';
import { listGateChanges } from './gate-changes.ts';
import { readSpentAudits } from './read-spent-audits.ts';
import { readSuspension } from './read-suspension.ts';
import { isRepairable, repairMerge } from './repair-merge.ts';
import { passReview, readGateHolder, reject } from './review-gate.ts';
import { moveAfterWork } from './settle-run.ts';
import { findReason } from './settle-verdict.ts';
import { enterAgain, transitionTask } from './transition-task.ts';
import { systemWriter } from './work.ts';
import type { Workshop } from './workshop.ts';

export interface ResumeWishes {
  /** Of all other tasks only what starts nothing is done; left out: all of it, of every task. */
  readonly only?: ReadonlySet<string> | undefined;
  /** With `only`: nor is anything begun that may lead to a start, for a process that does not stay. */
  readonly starts_nothing?: boolean | undefined;
  /** What this process has tried before is not tried again as long as nothing changes; it adds to it. */
  readonly tried?: Set<string> | undefined;
  readonly unwatched_ms?: number | undefined;
}

export interface ResumedTask {
  readonly task_id: string;
  readonly step: ResumeStep['step'];
  /** Why it is not gone on with now. */
  readonly waits_for?: Suspension | undefined;
}

/**
 * Goes on with every task whose process was killed between two writes: the rows say how far it had come. Never what
 * somebody who is alive is in the middle of; of several who find the same task one goes on. Answers at once: what was
 * begun is the workshop's to finish.
 */
export async function resumeTasks(workshop: Workshop, wishes: ResumeWishes = {}): Promise<ResumedTask[]> {
  const { place } = workshop;
  await place.settleLost();
  const [watches, attempts] = await Promise.all([
    place.store.listWatchedTasks(),
    place.store.listAttempts({ there: true }),
  ]);
  const byTask = new Map(watches.map((watch) => [watch.task_id, watch]));
  const resumed: ResumedTask[] = [];
  for (const id of new Set([...byTask.keys(), ...attempts.map(({ task_id }) => task_id)])) {
    const watch = byTask.get(id);
    const isOthers = watch !== undefined && !isSameProcess(watch.watcher, place.watcher);
    if (workshop.isAtWork(id) || (isOthers && (await isThere(place.store, watch.watcher)))) continue;
    const step = await resumeTask(workshop, id, { ...wishes, watch });
    if (step.step === 'wait') resumed.push({ task_id: id, step: step.step, waits_for: step.suspension });
    else if (step.step !== 'none') resumed.push({ task_id: id, step: step.step });
  }
  return resumed;
}

async function resumeTask(
  workshop: Workshop,
  id: string,
  {
    watch,
    only,
    starts_nothing = false,
    tried,
    unwatched_ms = LIMITS.unwatched_ms,
  }: ResumeWishes & { watch: WatchedTask | undefined },
): Promise<ResumeStep> {
  const { place } = workshop;
  const { store, watcher, clock } = place;
  const lost = await readLost(workshop, id, { watch, unwatched_ms });
  const workflow = place.workflow();
  const decided: ResumeStep = lost === undefined ? { step: 'none' } : decideResume(workflow, lost);
  if (lost === undefined || decided.step === 'none') {
    if (watch !== undefined && (lost === undefined || !hasOpen(lost))) await store.noteUnwatched(watch);
    return NONE;
  }
  if (decided.step === 'wait') return decided;
  if (hasOpen(lost)) return NONE;
  const isFresh = clock.now() - Date.parse(lost.entered_at) < unwatched_ms;
  if (watch === undefined && isFresh) return NONE;
  const mayStart =
    startsWork(workshop, lost.task, decided) || (starts_nothing && decided.step === 'set_aside');
  if (only !== undefined && !only.has(id) && mayStart) return NONE;
  const key = `${id} ${lost.task.version} ${decided.step}`;
  if (tried?.has(key) === true) return NONE;
  const taken = await store.takeWatch({ task_id: id, watcher, from: watch?.watcher ?? null }, clock.now());
  // This process may have been faster than itself.
  if (!taken || workshop.isAtWork(id)) return NONE;
  tried?.add(key);
  workshop.follow(id, () => perform(workshop, lost, decided));
  return decided;
}

const NONE: ResumeStep = { step: 'none' };

/** Undefined for a task that is gone. */
async function readLost(
  { place, merges_by_itself }: Workshop,
  id: string,
  { watch, unwatched_ms }: { watch: WatchedTask | undefined; unwatched_ms: number },
): Promise<LostTask | undefined> {
  const { store, agents } = place;
  try {
    const { task } = await store.readStanding(id);
    const [moves, attempts, runs, reviews, merges] = await Promise.all([
      store.listTransitions({ id, limit: 1 }),
      store.listAttempts({ task_id: id }),
      store.listRuns({ task_id: id }),
      store.listReviews({ task_id: id }),
      store.listMerges({ task_id: id }),
    ]);
    const entered_at = moves.at(-1)?.created_at ?? task.created_at;
    // An older one is of an earlier claim: this one was made by somebody who starts nothing.
    const isOfNow = watch !== undefined && watch.since >= Date.parse(entered_at) - unwatched_ms;
    const role = roleOf(place.workflow(), standingState(place.workflow(), task)) ?? '';
    const holder = task.roles?.[role];
    const agent = holder === undefined ? task.assignee : 'agent' in holder ? holder.agent : null;
    const was_starting = isOfNow && agent !== null && (await agents.facts.isManaged(agent));
    const rows = { attempts, runs, reviews, merges };
    const gate = standingState(place.workflow(), task);
    const holds = await readGateHolder(agents.facts, place.workflow(), { task, gate });
    const isWaiting = reviews.at(-1)?.status === 'waiting';
    const attempt = attempts.findLast(({ state }) => state === 'active');
    const spent = attempt && (await readSpentAudits(place, attempt, holds));
    const able = withoutSpentAudits(holds, spent);
    const asked = askPeople(able, isWaiting ? await listGateChanges(place, task) : []);
    const isVoid = able.kind === 'managed' && reviews.at(-1)?.status === 'void';
    const suspension = isVoid ? await readSuspension(place, able.name) : undefined;
    const known = { task, entered_at, was_starting, leads_on: merges_by_itself };
    return { ...known, holder: asked, suspension, ...rows };
  } catch (error) {
    if (isForgeError(error) && error.code === 'not_found') return undefined;
    throw error;
  }
}

/** What is not settled is somebody's who is alive. */
function hasOpen({ runs, reviews, merges }: LostTask): boolean {
  return (
    runs.some(({ ended_at }) => ended_at === null) ||
    reviews.some(({ status }) => status === 'running') ||
    merges.some(({ state }) => state === 'queued' || state === 'started')
  );
}

/** Checks, agents or merges may follow. */
function startsWork({ place }: Workshop, task: Task, step: ResumeStep): boolean {
  const workflow = place.workflow();
  switch (step.step) {
    case 'none':
    case 'wait':
    case 'give_back':
    case 'look_landed':
    case 'land':
    case 'set_aside':
      return false;
    case 'conclude':
      return step.run.outcome === 'completed';
    case 'compare':
      return true;
    case 'enter':
      return kindOf(workflow, standingState(workflow, task)) !== 'terminal';
    case 'pass':
    case 'reject':
    case 'repair':
      return true;
  }
}

async function perform(workshop: Workshop, lost: LostTask, step: ResumeStep): Promise<void> {
  const { place } = workshop;
  const engine = workshop.engine();
  const { workflow } = engine;
  const { task } = lost;
  const gate = standingState(workflow, task);
  switch (step.step) {
    case 'none':
    case 'wait':
      return;
    case 'give_back':
      await discardUnbegun(place, lost);
      await move(engine, task, { to: workflow.initial, ...NEVER_BEGUN });
      return;
    case 'conclude':
      await conclude(workshop, engine, { task, run: step.run });
      return;
    case 'compare':
      await discardUnbegun(place, lost);
      await workshop.compare(task);
      return;
    case 'enter':
      await enterAgain(engine, task, ['on_enter', 'after_enter']);
      return;
    case 'look_landed': {
      await workshop.noteLanded(task.id);
      const unmerged = await place.store.listAttempts({ task_id: task.id, state: 'active' });
      if (unmerged.length === 0) await enterAgain(engine, task, ['on_enter', 'after_enter']);
      return;
    }
    case 'pass': {
      const { id, status } = step.review;
      const review =
        status === 'waiting'
          ? await place.store.finishReview({ id, status: 'passed' }, systemWriter(place))
          : step.review;
      await enterAgain(engine, await passReview(engine, task, review), ['after_enter']);
      return;
    }
    case 'reject':
      await sendBack(engine, { task, gate }, { review: step.review, all: lost.reviews });
      return;
    case 'land': {
      const { attempt_id, candidate: merge_commit, target } = step.merge;
      // git's own reset can move a branch back in the moment of a landing: what is not there is merged again.
      if (merge_commit === null || !(await isInTarget(place, { commit: merge_commit, target }))) {
        await enterAgain(engine, task, ['on_enter', 'after_enter']);
        return;
      }
      await place.store.changeAttempt({ id: attempt_id, state: 'merged', merge_commit }, systemWriter(place));
      await move(engine, task, { to: passTarget(workflow, gate), reason: `merged into ${target}` });
      return;
    }
    case 'set_aside': {
      const { state, message } = step.merge;
      const annotation = { code: `merge_${state}`, message: message ?? state };
      const to = failureTarget(workflow, gate);
      await move(engine, task, { to, reason: annotation.message, annotation });
      if (to !== undefined && (await isRepairable(place, task)))
        await repairMerge(place, workshop.engine(), { task, from: to });
      return;
    }
    case 'repair':
      if (await isRepairable(place, task)) await repairMerge(place, engine, { task, from: gate });
      return;
  }
}

const NEVER_BEGUN = {
  reason: 'Forge was stopped before its agent was started',
  annotation: { code: 'run_failed', message: 'Forge was stopped before its agent was started' },
} as const;

interface LostMove {
  /** Undefined where the workflow leads nowhere. */
  readonly to: string | undefined;
  readonly reason: string;
  readonly annotation?: Annotation | undefined;
  readonly by_person?: boolean | undefined;
}

/** Unless somebody has moved it since it was looked at: what they decided stands. */
async function move(engine: Engine, { id, version }: Task, { to, ...why }: LostMove): Promise<void> {
  if (to === undefined) return;
  try {
    await transitionTask(engine, { id, to, version, ...why });
  } catch (error) {
    if (!isForgeError(error) || error.code !== 'version_conflict') throw error;
  }
}

async function conclude(
  { place }: Workshop,
  engine: Engine,
  { task, run }: Pick<LostTask, 'task'> & { readonly run: LostTask['runs'][number] },
): Promise<void> {
  const { message, retry_after, outcome } = run;
  const failures = {
    count: await countFailures(place, run),
    limit: place.settings().scheduler.retry_limit,
  };
  await moveAfterWork(
    engine,
    { task, run },
    { message, retry_after, outcome: outcome ?? 'crashed' },
    failures,
  );
}

/** A gate's no that was written down and not told. */
async function sendBack(
  engine: Engine,
  { task, gate }: { readonly task: Task; readonly gate: string },
  { review, all }: { readonly review: Review; readonly all: readonly Review[] },
): Promise<void> {
  const repeat = findRepeat(all, review);
  if (repeat !== undefined && engine.workflow.blocked !== undefined) {
    await move(engine, task, { to: engine.workflow.blocked, reason: repeat.message, annotation: repeat });
    return;
  }
  const outcome = reject(engine, gate, findReason(review));
  const by_person = isSaidByPerson(review);
  if (outcome.outcome === 'cascaded') await move(engine, task, { ...outcome, by_person });
}
