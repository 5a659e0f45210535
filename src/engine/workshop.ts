import type { Review } from '#contract/attempt.ts';
import type { Task } from '#contract/task.ts';
import { isPlanning } from '#domain/gate-targets.ts';
import { roleOf, standingState } from '#domain/workflow.ts';
import { toIso } from '#kernel/clock.ts';
import { ForgeError, isForgeError } from '#kernel/errors.ts';
import type { ActionOutcome } from './actions.ts';
import { openWorkspace } from './attempt-workspace.ts';
import { startAudit } from './audit-task.ts';
import { CheckoutWatch } from './checkout-watch.ts';
import { DaemonBeat } from './daemon-beat.ts';
import { countFailures } from './count-failures.ts';
import { endRun } from './end-run.ts';
import type { Engine } from './engine.ts';
import { explainUnstarted, giveBack } from './explain-unstarted.ts';
import { findRemoval } from './find-removal.ts';
import { findStanding } from './find-standing.ts';
import { findWatch } from './find-watch.ts';
import { FolderLocks } from './folder-locks.ts';
import { keepControl } from './keep-control.ts';
import { checkMergeable, mergeTask } from './merge-gate.ts';
import { noteLanded } from './note-landed.ts';
import { settleLost } from './recover-work.ts';
import { PushQueue } from './push-queue.ts';
import { beginRepair, isRepairable, repairMerge } from './repair-merge.ts';
import { endLostRuns, recallWork, retireAttempts, stopRuns } from './retire-attempts.ts';
import { checkReviewable, listSteps, reviewTask } from './review-gate.ts';
import { asCutOff, concludeWork, moveAfterWork } from './settle-run.ts';
import { compareSides, isSideBySide, startSides } from './side-by-side.ts';
import type { SideHands, SideWishes } from './sides.ts';
import { createRun, runWork, type Job } from './start-run.ts';
import { whileStanding } from './while-standing.ts';
import { systemWriter, toHold, type Assignment, type Work, type WorkNews, type WorkPlace } from './work.ts';

/**
 * The agents, gates and merges of one project in this process. Actions of the workflow start work here and do not wait
 * for it; what is started is followed to its end, and the task moved on.
 */
export class Workshop implements Work {
  readonly #place: WorkPlace;
  readonly #jobs = new Map<Promise<undefined>, string>();
  #failed: { readonly task: string; readonly error: unknown }[] = [];
  readonly #pushes: PushQueue;
  readonly #beat: DaemonBeat;
  readonly #ending = new AbortController();
  readonly #listeners = new Set<(news: WorkNews) => void>();

  constructor(
    place: Omit<WorkPlace, 'signal' | 'watch' | 'settleLost' | 'folders' | 'checkout' | 'control' | 'mended'>,
  ) {
    let settling: Promise<unknown> | undefined;
    const at: WorkPlace = {
      ...place,
      signal: this.#ending.signal,
      mended: { by_person: toIso(place.clock.now()), all: '' },
      control: keepControl(place),
      folders: new FolderLocks(place),
      checkout: new CheckoutWatch(place),
      // Many wait for the same; one of them does it.
      settleLost: async () =>
        void (await (settling ??= settleLost(at).finally(() => (settling = undefined)))),
      watch: (news) => {
        for (const listen of this.#listeners) listen(news);
      },
    };
    this.#place = at;
    this.#pushes = new PushQueue(at);
    this.#beat = new DaemonBeat(at, () => this.busy > 0);
  }

  get place(): WorkPlace {
    return this.#place;
  }

  /** Tells of everything that happens here until the answer is called. */
  listen(listener: (news: WorkNews) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** How many are told. */
  get listeners(): number {
    return this.#listeners.size;
  }

  /** Ends everything that is at work here. Tasks go back to where the next start takes them up. */
  async stop(): Promise<void> {
    this.#ending.abort();
    const tasks = [...new Set(this.#jobs.values())];
    await Promise.all(tasks.map((task_id) => stopRuns(this.#place, { task_id })));
    await this.settled().catch(() => undefined);
    await this.pushed();
    await this.#beat.end();
  }

  /** Moves that follow from what others did are Forge's own. */
  engine(): Engine {
    const { store, workflow, agents, clock } = this.#place;
    const by = systemWriter(this.#place);
    const work = async (): Promise<Work> => this;
    return { store, workflow: workflow(), by, clock, agents: agents.facts, work, follows: true };
  }

  /** Until nothing is at work here any more, on one task or on all. Throws what went wrong with the work itself. */
  async settled(taskId?: string): Promise<void> {
    for (;;) {
      const jobs = [...this.#jobs].filter(([, task]) => taskId === undefined || task === taskId);
      if (jobs.length === 0) break;
      await Promise.all(jobs.map(([job]) => job));
    }
    const isMeant = ({ task }: { readonly task: string }): boolean => taskId === undefined || task === taskId;
    const failed = this.#failed.find(isMeant);
    this.#failed = this.#failed.filter((one) => !isMeant(one));
    if (failed !== undefined) throw failed.error;
  }

  isAtWork(taskId: string): boolean {
    return [...this.#jobs.values()].includes(taskId);
  }

  async during<T>(taskId: string, work: () => Promise<T>): Promise<T> {
    const { store, watcher, clock } = this.#place;
    const watching = async (): Promise<T> => {
      await this.#beat.begin();
      await store.takeWatch({ task_id: taskId, watcher }, clock.now());
      return work();
    };
    return this.#count(taskId, watching());
  }

  async standBy<T>(taskId: string, work: () => Promise<T>): Promise<T> {
    const { store, watcher, clock } = this.#place;
    const watching = async (): Promise<T> => {
      await this.#beat.begin();
      const watch = await findWatch(this.#place, taskId);
      const from = watch?.watcher ?? null;
      if (watch?.is_others !== true) await store.takeWatch({ task_id: taskId, watcher, from }, clock.now());
      return work();
    };
    return this.#count(taskId, watching());
  }

  #count<T>(taskId: string, working: Promise<T>): Promise<T> {
    this.#add(
      taskId,
      working.then(
        () => undefined,
        () => undefined,
      ),
    );
    return working;
  }

  /** Work that nobody waits for; what goes wrong with it is told by `settled`. Work on a deleted task is over. */
  follow(taskId: string, work: () => Promise<unknown>): void {
    const working = this.during(taskId, work);
    this.#add(
      taskId,
      working.then(
        () => undefined,
        async (error: unknown) => {
          const isGone = isForgeError(error) && error.code === 'not_found';
          if (isGone && (await findStanding(this.#place.store, taskId)) === undefined) return undefined;
          this.#failed.push({ task: taskId, error });
          return undefined;
        },
      ),
    );
  }

  /** Pushes what has landed and waits for it. */
  pushLanded(): Promise<void> {
    return this.#pushes.push();
  }

  /** Until every push that was begun has ended. */
  pushed(): Promise<void> {
    return this.#pushes.settled();
  }

  /** The same as `pushLanded` without keeping anybody waiting; what goes wrong is told by `settled`. */
  pushAside(): void {
    if (this.#pushes.busy) return;
    this.pushLanded().catch((error: unknown) => void this.#failed.push({ task: '', error }));
  }

  get merges_by_itself(): boolean {
    return this.#place.settings().merge.auto;
  }

  get busy(): number {
    return this.#jobs.size;
  }

  async dispatch(engine: Engine, assignment: Assignment): Promise<ActionOutcome> {
    const { task, state, role, agent, hold } = assignment;
    const since = toIso(this.#place.clock.now());
    const known = this.#place.agents.find(agent);
    const managed = known && { ...known, profile: { ...known.profile, ...engine.overrides } };
    if (managed === undefined) return { outcome: 'passed', message: `${agent} is not started by Forge` };
    try {
      if (await isSideBySide(this.#place, { task, state }, engine.attempts))
        return await this.#dispatchSides(engine, assignment);
      return await this.during(task.id, async () => {
        const standing = { id: task.id, state: hold.in_state, fence: hold.fence };
        const { attempt } = await whileStanding(this.#place, standing, (place) =>
          openWorkspace(place, { task, agent }),
        );
        await beginRepair(this.#place, task);
        if (this.#ending.signal.aborted) return giveBack(engine);
        const removal = await findRemoval(this.#place, agent, since);
        if (removal !== undefined) return giveBack(engine, removal.message);
        const run = await createRun(this.#place, { attempt, role, agent: managed, hold });
        const { attempts } = engine;
        this.follow(task.id, () => this.#work({ task, attempt, run, agent: managed, state, attempts }));
        return { outcome: 'passed', message: `run ${run.id}` };
      });
    } catch (error) {
      if (!isForgeError(error)) throw error;
      return explainUnstarted(this.#place, engine, assignment, error);
    }
  }

  /** Several attempts at once, and then the choice between them. */
  async #dispatchSides(engine: Engine, assignment: Assignment): Promise<ActionOutcome> {
    const { id } = assignment.task;
    const { fence, in_state: state } = assignment.hold;
    return this.during(id, async () => {
      const started = await whileStanding(this.#place, { id, state, fence }, (place) =>
        startSides({ ...this.#hands(engine), place }, assignment, engine.attempts),
      );
      if (started === undefined) return giveBack(engine);
      this.follow(id, started.work);
      const { first } = started;
      return { outcome: 'passed', message: first === undefined ? 'compares attempts' : `run ${first.id}` };
    });
  }

  #hands({ overrides }: Engine): SideHands {
    return { place: this.#place, engine: () => this.engine(), overrides };
  }

  /** Goes on with several attempts whose runs have ended: what is not checked is, and then one is chosen. */
  async compare(task: Task): Promise<void> {
    const engine = this.engine();
    const state = standingState(engine.workflow, task);
    const role = roleOf(engine.workflow, state) ?? '';
    const hold = toHold(await engine.store.readStanding(task.id));
    const assignment = { task, state, role, agent: task.assignee ?? '', hold };
    await this.during(task.id, () => compareSides(this.#hands(engine), assignment));
  }

  /** Another run on a task that is the agent's and that nobody works on just now. */
  async resume(task: Task, agent: string, attempts?: SideWishes): Promise<ActionOutcome> {
    await this.#place.settleLost();
    const watch = await findWatch(this.#place, task.id);
    if (watch?.is_others === true) {
      const { pid, host } = watch.watcher;
      throw new ForgeError('state_invalid', `Process ${pid} on ${host} is at work on ${task.id}`, {
        hint: `forge task show ${task.id}`,
        details: { id: task.id, pid, host },
      });
    }
    const open = await this.#place.store.listRuns({ task_id: task.id, open: true });
    if (open[0] !== undefined) {
      throw new ForgeError('state_invalid', `Run ${open[0].id} is at work on ${task.id}`, {
        hint: `forge runs show ${open[0].id}`,
        details: { id: task.id, run: open[0].id },
      });
    }
    await this.checkStart(task);
    const engine = { ...this.engine(), attempts };
    const hold = toHold(await engine.store.readStanding(task.id));
    const state = standingState(engine.workflow, task);
    return this.dispatch(engine, { task, state, role: roleOf(engine.workflow, state) ?? '', agent, hold });
  }

  checkStart(task: Task): Promise<void> {
    return this.#place.trust.require(listSteps(this.#place, task));
  }

  checkReview(task: Task): Promise<void> {
    return checkReviewable(this.#place, task);
  }

  checkMerge(task: Task): Promise<void> {
    return checkMergeable(this.#place, task);
  }

  async review(engine: Engine, task: Task, gate: string): Promise<ActionOutcome> {
    const hands = { ...this.#hands(engine), leads_on: this.merges_by_itself, follow: this.follow.bind(this) };
    const audit = (review: Review): Promise<ActionOutcome> => startAudit(hands, { task, gate, review });
    try {
      return await this.during(task.id, () =>
        whileStanding(this.#place, task, (place) => reviewTask(place, engine, { task, gate, audit })),
      );
    } catch (error) {
      if (!isForgeError(error)) throw error;
      return { outcome: 'failed', message: error.message };
    }
  }

  async merge(engine: Engine, task: Task, gate: string): Promise<ActionOutcome> {
    return this.during(task.id, async () => {
      const outcome = await whileStanding(this.#place, task, (place) =>
        mergeTask(place, engine, { task, gate }),
      );
      // Its turn in the queue is over: the next one need not wait for a server far away.
      this.#add(
        task.id,
        this.pushLanded().then(() => undefined),
      );
      // Who does not stay leaves it to a person, or to the next who does.
      const isFollowed = outcome.outcome === 'cascaded' && engine.follows === true;
      if (isFollowed && (await isRepairable(this.#place, task)))
        this.follow(task.id, () => repairMerge(this.#place, this.engine(), { task, from: outcome.to }));
      return outcome;
    });
  }

  async retire(_: Engine, task: Task, when: 'now' | 'later'): Promise<ActionOutcome> {
    try {
      await this.during(task.id, () => retireAttempts(this.#place, task.id, when));
      return { outcome: 'passed' };
    } catch (error) {
      // The task is over whatever becomes of its folder; that is tried again later.
      if (!isForgeError(error)) throw error;
      return { outcome: 'failed', message: error.message };
    }
  }

  async noteLanded(taskId: string): Promise<void> {
    await noteLanded(this.#place, taskId);
  }

  async endLost(taskId: string): Promise<void> {
    await endLostRuns(this.#place, taskId);
  }

  async endPlanning(task: Task, role: string): Promise<void> {
    const { store } = this.#place;
    const active = new Set(
      (await store.listAttempts({ task_id: task.id, state: 'active' })).map(({ id }) => id),
    );
    const runs = await store.listRuns({ task_id: task.id });
    // What somebody had worked on before stays where it is.
    if (runs.some((run) => active.has(run.attempt_id) && run.role !== role)) return;
    await this.during(task.id, () => retireAttempts(this.#place, task.id, 'now'));
  }

  async recall(task: Task, reset: 'worktree' | 'workspace' | undefined): Promise<void> {
    await recallWork(this.#place, task.id, reset);
  }

  /** The work of whoever holds an active state: a plan, or changes. */
  async #work({ task, attempt, run, agent, state, attempts }: WorkJob): Promise<void> {
    const { store, settings } = this.#place;
    const isPlan = isPlanning(this.#place.workflow(), state);
    const plans = isPlan ? await import('./apply-plan.ts') : undefined;
    const end = await runWork(this.#place, { task, attempt, run, agent, output_schema: plans?.PLAN_SCHEMA });
    const concluded =
      plans === undefined
        ? await concludeWork(this.#place, { task, attempt, run }, end)
        : await plans.concludePlan(this.#place, { task, run }, end);
    const conclusion = asCutOff(this.#place, concluded);
    const ended = await endRun(this.#place, run, end, conclusion);
    const now = await findStanding(store, task.id);
    if (now === undefined) return;
    const failures = {
      count: await countFailures(this.#place, ended),
      limit: settings().scheduler.retry_limit,
    };
    // Who has planned leads on to those who work.
    const engine = { ...this.engine(), attempts };
    await moveAfterWork(engine, { task: now.task, run: ended }, conclusion, failures);
  }

  #add(taskId: string, work: Promise<undefined>): void {
    const job: Promise<undefined> = work.finally(() => void this.#jobs.delete(job));
    this.#jobs.set(job, taskId);
  }
}

interface WorkJob extends Job {
  readonly state: string;
  /** Of the states that it leads to. */
  readonly attempts: SideWishes | undefined;
}
