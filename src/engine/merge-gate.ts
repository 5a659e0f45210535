import { setTimeout as sleep } from 'node:timers/promises';
import type { Attempt, Merge, StepResult } from '#contract/attempt.ts';
import type { Task } from '#contract/task.ts';
import { describeFailure } from '#domain/decide-review.ts';
import { failureTarget, passTarget } from '#domain/gate-targets.ts';
import type { ControlGit } from '#git/control-directory.ts';
import { type LandingOverlap, landTarget } from '#git/land-target.ts';
import { hasWork } from '#git/landed-work.ts';
import { makeCandidate } from '#git/merge-candidate.ts';
import { readRef } from '#git/read-ref.ts';
import { setTrailers } from '#git/trailers.ts';
import { ForgeError, isForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { nameFiles } from '#kernel/name-files.ts';
import { escapeLine } from '#kernel/text.ts';
import { processWitness } from '#process/process-witness.ts';
import type { MergeEnd } from '#store/attempt-store.ts';
import { followEvents } from '#store/follow-events.ts';
import type { Annotation } from '#domain/plan-transition.ts';
import type { ActionOutcome } from './actions.ts';
import { findSecretsOf } from './agent-secrets.ts';
import { findWorkspace, openControl, type Workspace } from './attempt-workspace.ts';
import { readClearing, runReviewSteps } from './check-steps.ts';
import type { Engine } from './engine.ts';
import { type LandingRules, readLandingRules } from './landing-rules.ts';
import { listMarked } from './list-marked.ts';
import { notePush } from './push-landed.ts';
import { listSteps, readPass, undecided } from './review-gate.ts';
import { tellFailure } from './tell-failure.ts';
import { explainCut } from './while-standing.ts';
import { systemWriter, type WorkPlace } from './work.ts';

/** How a merge ended, as far as the queue is concerned. */
type Landing = Omit<MergeEnd, 'id'>;

/** What can be said before the task moves. */
export async function checkMergeable(place: WorkPlace, task: Task): Promise<void> {
  const [attempt, ...more] = await place.store.listAttempts({ task_id: task.id, state: 'active' });
  if (more.length > 0) throw undecided(task, more.length + 1);
  if (attempt === undefined) {
    throw new ForgeError('state_invalid', `${task.id} has no attempt to merge`, {
      hint: `forge task close ${task.id} --reason …`,
      details: { id: task.id },
    });
  }
  await place.trust.require(listSteps(place, task));
  const pass = await readPass(place, task, attempt);
  if (pass.passed) return;
  throw new ForgeError('guard_rejected', `${task.id} cannot be merged: ${pass.why}`, {
    hint: `forge task reviews ${task.id}`,
    details: { id: task.id, attempt: attempt.id },
  });
}

/**
 * The attempt's turn in the queue of its target: target and attempt as one tree, the checks on that tree, and the
 * target moved to it unless it has moved meanwhile. What is merged is what was tested.
 */
export async function mergeTask(
  place: WorkPlace,
  engine: Engine,
  { task, gate }: { readonly task: Task; readonly gate: string },
): Promise<ActionOutcome> {
  const control = await openControl(place);
  const workspace = await findWorkspace(place, control, task.id);
  if (workspace === undefined)
    return toFailure(engine, gate, { code: 'no_attempt', message: `${task.id} has no attempt to merge` });
  const { attempt } = workspace;
  const pass = await readPass(place, task, attempt);
  if (!pass.passed) return toFailure(engine, gate, { code: 'not_reviewed', message: pass.why });
  const queued = await place.store.queueMerge(
    {
      id: crypto.randomUUID(),
      attempt_id: attempt.id,
      target: attempt.target,
      strategy: place.settings().merge.strategy,
      head_commit: attempt.head_commit ?? attempt.base_commit,
      watcher: place.watcher,
    },
    systemWriter(place),
  );
  return finishMerge(place, engine, { task, gate, control, workspace, merge: queued });
}

interface MergeCall {
  readonly task: Task;
  readonly gate: string;
  readonly control: ControlGit;
  readonly workspace: Workspace;
  readonly merge: Merge;
}

async function finishMerge(place: WorkPlace, engine: Engine, call: MergeCall): Promise<ActionOutcome> {
  const { gate, workspace } = call;
  const { id } = call.merge;
  place.watch({ kind: 'merge', merge: call.merge });
  const merge = await waitForTurn(place, call.merge);
  if (merge !== undefined) place.watch({ kind: 'merge', merge });
  const landing: Landing =
    merge === undefined ? cutOff(place) : await landAttempt(place, call).catch(refuseLanding);
  const told = await redactLanding(place, workspace.attempt, landing);
  const ended = await place.store.finishMerge({ id, ...told }, systemWriter(place));
  place.watch({ kind: 'merge', merge: ended });
  if (ended.state === 'landed') {
    const { candidate, message: text } = ended;
    notePush(place, ended);
    if (text !== null)
      place.watch({ kind: 'note', task_id: ended.task_id, attempt_id: ended.attempt_id, text });
    await place.store.changeAttempt(
      { id: workspace.attempt.id, state: 'merged', ...(candidate !== null && { merge_commit: candidate }) },
      systemWriter(place),
    );
    const to = passTarget(engine.workflow, gate);
    const reason = `merged into ${ended.target}`;
    if (to !== undefined) return { outcome: 'cascaded', to, reason };
    await place.store.clearLanding({ id }, systemWriter(place));
    return { outcome: 'passed', message: reason };
  }
  // It stays where it is, and begins anew at the next start.
  if (ended.state === 'dropped') return { outcome: 'failed', message: ended.message ?? ended.state };
  return toFailure(engine, gate, { code: `merge_${ended.state}`, message: ended.message ?? ended.state });
}

/** The queue is in the store, so that every process that merges into this branch stands in the same one. */
async function waitForTurn(place: WorkPlace, { id }: Merge): Promise<Merge | undefined> {
  const { store, signal } = place;
  const events = await followEvents(store);
  // Looking through the processes of all who wait takes longer than looking whose turn it is.
  for (let settles_at = 0; !signal.aborted;) {
    const taken = await store.takeMerge({ id, watcher: place.watcher }, systemWriter(place));
    if (taken !== undefined) return taken;
    if (performance.now() >= settles_at) {
      await place.settleLost();
      settles_at = performance.now() + LIMITS.merge_settle_ms;
    }
    await events.next({ signal, timeout_ms: LIMITS.merge_settle_ms });
  }
  return undefined;
}

/** Whatever keeps it from landing, its turn is over. */
function refuseLanding(error: unknown): Landing {
  if (!isForgeError(error)) throw error;
  return { state: 'refused', message: tellFailure(error) };
}

/** Its message names files that an agent made, and says what git and the user's hooks said. */
async function redactLanding(place: WorkPlace, attempt: Attempt, landing: Landing): Promise<Landing> {
  if (landing.message === undefined || landing.message === null) return landing;
  const { redact } = await findSecretsOf(place, attempt);
  return { ...landing, message: redact(landing.message) };
}

function cutOff(place: WorkPlace): Landing {
  return { state: 'dropped', message: explainCut(place) };
}

async function landAttempt(place: WorkPlace, call: MergeCall): Promise<Landing> {
  const { attempt } = call.workspace;
  const { strategy } = call.merge;
  const { redact } = await findSecretsOf(place, attempt);
  const message = toMessage({ ...call.task, title: redact(call.task.title) }, attempt, call.merge);
  const rules = await readLandingRules(place, call.control, { message, strategy });
  for (let tries = 0; tries < LIMITS.merge_tries; tries += 1) {
    const old = await readRef(place.repo, `refs/heads/${attempt.target}`);
    if (old === undefined) return { state: 'refused', message: `There is no branch ${attempt.target}` };
    const landing = await tryUntilQuiet(place, { ...call, rules }, old);
    if (landing !== 'moved') return landing;
  }
  return { state: 'postponed', message: `${attempt.target} moved ${LIMITS.merge_tries} times meanwhile` };
}

/** A checkout that others keep busy costs nothing but time: what was tested is tried again. */
async function tryUntilQuiet(place: WorkPlace, call: RuledCall, old: string): Promise<Landing | 'moved'> {
  const end = performance.now() + LIMITS.landing_busy_ms;
  for (;;) {
    const landing = await tryLanding(place, call, old);
    if (landing === 'moved' || !('busy' in landing)) return landing;
    if (place.signal.aborted) return cutOff(place);
    if (performance.now() > end) return { state: 'postponed', message: landing.busy };
    await sleep(LIMITS.merge_poll_ms);
  }
}

interface RuledCall extends MergeCall {
  readonly rules: LandingRules;
}

async function tryLanding(
  place: WorkPlace,
  call: RuledCall,
  old: string,
): Promise<Landing | 'moved' | { readonly busy: string }> {
  const { control, workspace, merge, rules } = call;
  const { attempt } = workspace;
  const candidate = await makeCandidate(control, {
    target: old,
    head: merge.head_commit,
    base: attempt.base_commit,
    strategy: merge.strategy,
    message: rules.message,
    sign: rules.sign,
  });
  if (candidate.kind === 'empty') return { state: 'landed', candidate: old };
  if (candidate.kind === 'conflict') {
    const names = candidate.files.map(({ path }) => path);
    return {
      state: 'conflict',
      conflicts: [...candidate.files],
      message: `${attempt.branch} conflicts with ${attempt.target} in ${nameFiles(names, 10)}`,
    };
  }
  const marked = await listMarked(place, control, { attempt, head: merge.head_commit, target: old });
  if (marked.length > 0)
    return { state: 'refused', message: `Conflicts still stand in ${nameFiles(marked, 10)}` };
  const told = [...rules.judgeSignature(candidate.unsigned), ...rules.notes];
  const failed = await checkCandidate(place, call, candidate);
  if (failed?.outcome === 'stopped' || place.signal.aborted) return cutOff(place);
  if (failed !== undefined) {
    return {
      state: 'ci_failed',
      candidate: candidate.commit,
      message: `Together with ${attempt.target}: ${describeFailure(failed)}`,
    };
  }
  const move = { branch: attempt.target, old, commit: candidate.commit };
  const landed = await landAllowed(place, call, move);
  switch (landed.kind) {
    case 'lost':
      return { state: 'dropped', message: landed.message };
    case 'landed':
      // A user may have taken it back on purpose in the very moment: then it is not merged, and stays back.
      if (!(await hasWork(place.repo, { ...move, head: merge.head_commit, attempt_id: attempt.id })))
        return { state: 'refused', message: `${attempt.target} was moved back behind the merge` };
      return {
        state: 'landed',
        candidate: candidate.commit,
        ...(told.length > 0 && { message: told.join('. ') }),
      };
    case 'moved':
      return 'moved';
    case 'busy':
      return { busy: landed.message };
    case 'overlap':
      return { state: 'postponed', candidate: candidate.commit, message: describeOverlap(landed) };
  }
}

function describeOverlap({ worktree, files, operation }: LandingOverlap): string {
  if (operation === 'locked')
    return `${worktree} has the target checked out and is not there: git worktree unlock and prune`;
  if (operation !== undefined)
    return `git is in the middle of a ${operation} in ${worktree}: finish it or give it up, and it is merged`;
  return `${worktree} has changes of its own in ${nameFiles(files, 10)}: commit or stash them, and it is merged`;
}

/**
 * Hooks that guard the branch are asked before, and told afterwards. That the task still stands in its gate is looked at
 * last: from then on no write takes the task away before the landing is over.
 */
async function landAllowed(
  place: WorkPlace,
  { rules, merge, task }: RuledCall,
  move: Parameters<LandingRules['askMove']>[0],
): Promise<Awaited<ReturnType<typeof landTarget>> | { readonly kind: 'lost'; readonly message: string }> {
  const { store, repo } = place;
  const allowed = await rules.askMove(move);
  let isLanded = false;
  try {
    const landing = { id: merge.id, in_state: task.state, candidate: move.commit };
    const loss = await store.takeLanding(landing, systemWriter(place));
    if (loss !== undefined) return { kind: 'lost', message: loss.message };
    const landed = await landTarget(repo, { ...move, witness: processWitness });
    isLanded = landed.kind === 'landed';
    return landed;
  } finally {
    if (!isLanded) await store.clearLanding({ id: merge.id }, systemWriter(place));
    await allowed.ended(isLanded);
  }
}

async function checkCandidate(
  place: WorkPlace,
  call: MergeCall,
  { commit, tree }: { readonly commit: string; readonly tree: string },
): Promise<StepResult | undefined> {
  const { task, workspace, merge } = call;
  const { attempt } = workspace;
  const steps = listSteps(place, task);
  if (await havePassed(place, task, { tree, steps })) return undefined;
  return place.folders.hold(attempt, 'merge', async () => {
    const results = await runReviewSteps(place, {
      attempt,
      steps,
      commit,
      gate_id: merge.id,
      head: merge.head_commit,
      review_id: null,
      finished: async () => {},
    });
    return results.find(({ outcome }) => outcome !== 'passed');
  });
}

/** Where the target has not moved, the review has tested this very tree: there is nothing to show or to run. */
async function havePassed(
  place: WorkPlace,
  task: Task,
  { tree, steps }: { readonly tree: string; readonly steps: readonly string[] },
): Promise<boolean> {
  const after = await readClearing(place, task.id);
  for (const command of steps)
    if ((await place.store.findStep({ tree, command, after })) === undefined) return false;
  return true;
}

function toMessage(task: Task, attempt: Attempt, { strategy }: Merge): string {
  const title = escapeLine(task.title);
  const subject = strategy === 'merge' ? `Merge ${attempt.branch}: ${title}` : title;
  return setTrailers(subject, { 'Forge-Task': task.id, 'Forge-Attempt': attempt.id });
}

function toFailure({ workflow }: Engine, gate: string, annotation: Annotation): ActionOutcome {
  const to = failureTarget(workflow, gate);
  const { message } = annotation;
  return to === undefined
    ? { outcome: 'failed', message }
    : { outcome: 'cascaded', to, reason: message, annotation };
}
