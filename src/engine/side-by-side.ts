import type { Attempt, PickRule, Run } from '#contract/attempt.ts';
import { needsWork } from '#domain/decide-pick.ts';
import { isPlanning } from '#domain/gate-targets.ts';
import { isForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { followEvents } from '#store/follow-events.ts';
import { concludeSide } from './conclude-side.ts';
import { endRun } from './end-run.ts';
import { openSides } from './open-sides.ts';
import { checkAttempt } from './review-gate.ts';
import { asCutOff, concludeWork } from './settle-run.ts';
import { createRun, runWork } from './start-run.ts';
import { isAssigned, type Side, type SideHands, type SideWishes } from './sides.ts';
import { viewAttempts, type ViewedAttempt } from './view-attempts.ts';
import { waitForPlace } from './wait-for-place.ts';
import { systemWriter, type Assignment, type ManagedAgent, type WorkPlace } from './work.ts';

/** Whether a task is worked on by several: somebody wants it, or it was so when it was left. */
export async function isSideBySide(
  place: WorkPlace,
  { task, state }: Pick<Assignment, 'task' | 'state'>,
  wishes: SideWishes | undefined,
): Promise<boolean> {
  if (isPlanning(place.workflow(), state)) return false;
  if ((wishes?.count ?? 1) > 1) return true;
  return (await place.store.listAttempts({ task_id: task.id, state: 'active' })).length > 1;
}

/**
 * Makes what is missing of the attempts. What it gives does the work in them, and then decides between them; undefined
 * where this process is about to end.
 */
export async function startSides(
  hands: SideHands,
  assignment: Assignment,
  wishes: SideWishes | undefined,
): Promise<{ readonly first: Run | undefined; readonly work: () => Promise<void> } | undefined> {
  const { place } = hands;
  const { task, role, hold } = assignment;
  const sides = await openSides(hands, assignment, wishes);
  if (place.signal.aborted) return undefined;
  const views = await viewAttempts(place, { task_id: task.id, state: 'active' });
  const isAnyGreen = views.some(({ result }) => result === 'green');
  const lanes = views.map(({ view, result }): Lane => {
    const side = needsWork(result, isAnyGreen)
      ? sides.find(({ attempt }) => attempt.id === view.id)
      : undefined;
    return { attempt: view, result, agent: side?.agent };
  });
  const next = lanes.find(({ agent }) => agent !== undefined);
  const first =
    next?.agent && (await createRun(place, { attempt: next.attempt, agent: next.agent, role, hold }));
  const rule = findPickRule(
    place,
    views.map(({ view }) => view),
  );
  return { first, work: () => new Race(hands, assignment, rule).run(lanes, first) };
}

/** Without starting anybody: what was not checked is, and then it is decided between them. */
export async function compareSides(hands: SideHands, assignment: Assignment): Promise<void> {
  const { place } = hands;
  const views = await viewAttempts(place, { task_id: assignment.task.id, state: 'active' });
  const lanes = views.map(({ view, result }): Lane => ({ attempt: view, result, agent: undefined }));
  for (const { attempt } of lanes) place.watch({ kind: 'attempt', attempt });
  await new Race(
    hands,
    assignment,
    findPickRule(
      place,
      views.map(({ view }) => view),
    ),
  ).run(lanes, undefined);
}

/** What was said when they were begun, or when they were last gone on with; else what the settings say now. */
export function findPickRule(
  { settings }: Pick<WorkPlace, 'settings'>,
  attempts: readonly Pick<Attempt, 'pick'>[],
): PickRule {
  return attempts.findLast(({ pick }) => pick !== null)?.pick ?? settings().attempts.pick;
}

interface Lane {
  readonly attempt: Attempt;
  readonly result: ViewedAttempt['result'];
  /** Who works on it now; undefined where it is only checked, if that is missing. */
  readonly agent: ManagedAgent | undefined;
}

/** All attempts at one task, from the start of their agents to the choice between them. */
class Race {
  readonly #hands: SideHands;
  readonly #assignment: Assignment;
  readonly #rule: PickRule;
  /** Somebody has won, or the task is somebody else's business now. */
  readonly #over = new AbortController();
  readonly #signal: AbortSignal;
  /** Who begins next: one after the other, so that each sees the places that are taken. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(hands: SideHands, assignment: Assignment, rule: PickRule) {
    this.#hands = hands;
    this.#assignment = assignment;
    this.#rule = rule;
    this.#signal = AbortSignal.any([hands.place.signal, this.#over.signal]);
  }

  async run(lanes: readonly Lane[], first: Run | undefined): Promise<void> {
    const watching = this.#watchTask();
    const worked = await Promise.allSettled(lanes.map((lane) => this.#work(lane, first)));
    this.#over.abort();
    await watching;
    const faults = worked.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
    const bugs = faults.filter((fault) => !isForgeError(fault));
    if (bugs.length > 0) throw bugs[0];
    await concludeSide(this.#hands, this.#assignment, { rule: this.#rule, fault: faults.find(isForgeError) });
  }

  async #work({ attempt: { id }, agent, result }: Lane, first: Run | undefined): Promise<void> {
    const { place } = this.#hands;
    const isDone =
      agent === undefined
        ? result === 'unchecked'
        : await this.#let({ attempt: await place.store.getAttempt(id), agent }, first);
    if (!isDone || this.#signal.aborted) return;
    const attempt = await place.store.getAttempt(id);
    const { review } = await checkAttempt(
      { ...place, signal: this.#signal },
      { task: this.#assignment.task, attempt, holder: { kind: 'none' }, is_side: true },
    );
    if (review.status === 'passed' && this.#rule === 'first_green') await this.#win(attempt);
  }

  /** One run of the agent; true where it has ended well. */
  async #let({ attempt, agent }: Side, first: Run | undefined): Promise<boolean> {
    const { place } = this.#hands;
    const { task } = this.#assignment;
    const run = first?.attempt_id === attempt.id ? first : await this.#begin({ attempt, agent });
    if (run === undefined) return false;
    const end = await runWork(place, { task, attempt, run, agent });
    const concluded = await concludeWork(place, { task, attempt, run }, end);
    const { outcome } = await endRun(place, run, end, asCutOff(place, concluded));
    return outcome === 'completed';
  }

  #begin(wanted: Pick<Side, 'attempt' | 'agent'>): Promise<Run | undefined> {
    const { task, role, hold } = this.#assignment;
    const begun = this.#turn.then(async () => {
      const wait = { agent: wanted.agent, task_id: task.id, signal: this.#signal };
      const isFree = await waitForPlace(this.#hands.place, wait);
      if (!isFree || this.#signal.aborted) return undefined;
      return createRun(this.#hands.place, { ...wanted, role, hold });
    });
    this.#turn = begun.catch(() => undefined);
    return begun;
  }

  /** Whoever is still at work is told to end; what they leave is kept when they are archived. */
  async #win(attempt: Attempt): Promise<void> {
    this.#over.abort();
    const { place } = this.#hands;
    for (const run of await place.store.listRuns({ task_id: attempt.task_id, open: true })) {
      if (run.attempt_id === attempt.id) continue;
      // It may end in this very moment.
      await place.store.askStop({ id: run.id }, systemWriter(place)).catch(ignoreForge);
    }
  }

  /** Checks of a task that somebody has moved on, or given up, are for nothing. */
  async #watchTask(): Promise<void> {
    const { place } = this.#hands;
    const { task } = this.#assignment;
    const events = await followEvents(place.store);
    while (!this.#signal.aborted) {
      await events.next({ signal: this.#signal, timeout_ms: LIMITS.agent_look_ms });
      const now = await place.store.readStanding(task.id).catch(ignoreForge);
      if (!isAssigned(place, this.#assignment, now)) this.#over.abort();
    }
  }
}

function ignoreForge(error: unknown): undefined {
  if (!isForgeError(error)) throw error;
  return undefined;
}
