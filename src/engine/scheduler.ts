import { setTimeout as sleep } from 'node:timers/promises';
import type { Attempt, Run } from '#contract/attempt.ts';
import type { WorkedTask } from '#contract/run-task-operations.ts';
import type { Task, TaskType } from '#contract/task.ts';
import { toCaps } from '#domain/caps.ts';
import {
  describeSuspension,
  FAULT_RULES,
  findSuspension,
  type SuspensionRules,
} from '#domain/decide-suspension.ts';
import { planDispatch, type DispatchAgent } from '#domain/plan-dispatch.ts';
import { passTarget } from '#domain/gate-targets.ts';
import { kindOf, standingState } from '#domain/workflow.ts';
import { toIso } from '#kernel/clock.ts';
import { isForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { WATCH_LIMITS } from '#kernel/watch-limits.ts';
import { type EventFollower, followEvents } from '#store/follow-events.ts';
import { openControl } from './attempt-workspace.ts';
import { findSpentBudget } from './find-spent-budget.ts';
import { findStanding, ignoreGone } from './find-standing.ts';
import { findFullDisk } from './keep-room.ts';
import { listHalted } from './list-halted.ts';
import { putUntrustedAside } from './put-untrusted-aside.ts';
import { watchOver } from './recover-project.ts';
import { toWait } from './read-wait.ts';
import { describeWork, workTask } from './work-task.ts';
import type { Workshop } from './workshop.ts';

export interface DispatchWishes {
  /** All that Forge can start where it is left out. */
  readonly agents?: readonly string[] | undefined;
  /** Tasks at once; what the settings say where it is left out. */
  readonly max?: number | undefined;
  readonly merge: boolean;
  readonly exclude_types?: readonly TaskType[] | undefined;
  /** One line for whoever follows it. */
  readonly tell: (line: string) => void;
  /** Shorter ones for tests. */
  readonly backoff?: SuspensionRules;
  readonly unwatched_ms?: number;
}

export interface Tick {
  readonly started: number;
  /** When something that only waits for the time can be started. */
  readonly until: number | undefined;
  /** Something only waits for a place. */
  readonly is_crowded: boolean;
  /** What waits for a person: for agents that cannot work, a pause, a budget or disk space. */
  readonly stranded: readonly string[];
}

const NOTHING: Tick = { started: 0, until: undefined, is_crowded: false, stranded: [] };

const BACKOFF = { first_ms: LIMITS.retry_first_ms, last_ms: LIMITS.retry_last_ms };

/**
 * Starts what is ready with agents that have a free place. It keeps nothing that a restart would need: what failed,
 * what was spent and who has to wait stands in the rows of the runs.
 */
export class Scheduler {
  readonly #workshop: Workshop;
  readonly #wishes: DispatchWishes;
  /** Who is at work on which task of those taken here. */
  readonly #working = new Map<string, { readonly agent: string; readonly done: Promise<void> }>();
  readonly #worked = new Map<string, WorkedTask>();
  /** What could not be taken, as it was then: it is tried again when it has changed. */
  readonly #refused = new Map<string, number>();
  readonly #tried = new Set<string>();
  /** Suspensions that were told, each once. */
  readonly #suspended = new Map<string, string>();
  #told: string | undefined;
  #events: EventFollower | undefined;

  constructor(workshop: Workshop, wishes: DispatchWishes) {
    this.#workshop = workshop;
    this.#wishes = wishes;
  }

  get working(): number {
    return this.#working.size;
  }

  /** Whether it was taken here. */
  knows(taskId: string): boolean {
    return this.#worked.has(taskId);
  }

  /** Goes on with what others left, then starts all that may be started now; does not wait for it. */
  async tick(): Promise<Tick> {
    const { place } = this.#workshop;
    this.#events ??= await followEvents(place.store);
    const resumed = await watchOver(this.#workshop, { tried: this.#tried });
    if (place.signal.aborted) return NOTHING;
    const now = place.clock.now();
    const runs = await place.store.listRuns({ since: toIso(now - LIMITS.budget_window_ms) });
    const told = this.#told;
    const reason = await this.#findHalt(runs, now);
    if (reason !== this.#told && reason !== undefined) this.#wishes.tell(reason);
    this.#told = reason;
    const merged = this.#wishes.merge ? await this.#mergePassed() : 0;
    if (reason !== undefined) return { ...NOTHING, started: merged, stranded: await this.#listStranded() };
    const { starts, stranded, ...rest } = await this.#plan(runs, now);
    const waits = resumed.flatMap(({ waits_for, task_id }) =>
      waits_for === undefined ? [] : [{ ...waits_for, task_id }],
    );
    const times = [
      ...waits.flatMap(({ mends, until }) => (mends === 'by_itself' ? [until] : [])),
      ...(rest.until === undefined ? [] : [rest.until]),
    ];
    const left = [
      ...stranded.map(({ id }) => id),
      ...waits.flatMap(({ mends, task_id }) => (mends === 'by_person' ? [task_id] : [])),
    ];
    const tick = {
      ...rest,
      until: times.length === 0 ? undefined : Math.min(...times),
      stranded: left,
    };
    const full = starts.length === 0 ? undefined : await findFullDisk(place, await openControl(place));
    if (full !== undefined && full !== told) this.#wishes.tell(full);
    if (full !== undefined) {
      this.#told = full;
      return { ...NOTHING, started: merged, stranded: await this.#listStranded() };
    }
    for (const { task, agent } of starts) this.#start(task, agent);
    return { ...tick, started: starts.length + merged };
  }

  /** Until something that was taken here has ended, or something else has happened, or so long at most. */
  async pause(ms: number): Promise<void> {
    const over = new AbortController();
    const waits = [...this.#working.values()].map(({ done }) => done);
    await Promise.race([this.#awaitNews(ms, over.signal), ...waits]);
    over.abort();
  }

  /** One look takes in what many agents do, and is not worth it for each of their events. */
  async #awaitNews(ms: number, signal: AbortSignal): Promise<void> {
    await sleep(Math.min(ms, WATCH_LIMITS.dispatch_pause_ms), undefined, { signal }).catch(() => undefined);
    await this.#events?.next({ signal, timeout_ms: Math.max(0, ms - WATCH_LIMITS.dispatch_pause_ms) });
  }

  /** What became of every task that was taken here; waits for those at work. */
  async finish(): Promise<WorkedTask[]> {
    await Promise.all([...this.#working.values()].map(({ done }) => done));
    const all = [...this.#worked.values()];
    return Promise.all(all.map((worked) => this.#describeAgain(worked)));
  }

  /** What did not get there may have been brought there since: a merge that waited for the user. */
  async #describeAgain(worked: WorkedTask): Promise<WorkedTask> {
    if (worked.reached) return worked;
    const { id, version } = worked.task;
    const [workshop, asked] = [this.#workshop, { id, merge: this.#wishes.merge }];
    const now = await describeWork(workshop, workshop.engine(), asked).catch(() => worked);
    const isSame = now.task.version === version;
    return { ...now, wait: now.wait ?? (isSame ? worked.wait : null) };
  }

  /** Why nothing at all is started. */
  async #findHalt(runs: readonly Run[], now: number): Promise<string | undefined> {
    const { store, settings } = this.#workshop.place;
    if ((await store.readPause()) !== null)
      return 'The project is paused: nothing is started; forge project resume';
    const spent = await findSpentBudget(store, { caps: toCaps(settings()), now, runs });
    return spent === undefined ? undefined : `${spent.message}; to raise it: ${spent.command}`;
  }

  /** What is ready and cannot be started at all: a few stand for all of them. */
  async #listStranded(): Promise<string[]> {
    const ready = await this.#listReady(await this.#listAgents());
    return ready.slice(0, LIMITS.dispatch_halted).map(({ id }) => id);
  }

  async #plan(runs: readonly Run[], now: number): Promise<ReturnType<typeof planDispatch>> {
    const { place } = this.#workshop;
    const { store } = place;
    const { scheduler } = place.settings();
    const agents = await this.#listAgents(runs);
    this.#tellSuspensions(agents, now);
    const open = (await store.listOpenRuns()).map(({ run }) => run);
    const working = new Map(open.map(({ task_id, agent }) => [task_id, agent]));
    const last = new Map(open.map(({ task_id, id }) => [task_id, id]));
    const more = open.filter(({ task_id, id }) => last.get(task_id) !== id);
    for (const [id, { agent }] of this.#working) working.set(id, agent);
    const elsewhere = (await place.runsElsewhere?.()) ?? 0;
    const places = Math.min(
      (this.#wishes.max ?? scheduler.max) - working.size - more.length,
      scheduler.per_machine - working.size - more.length - elsewhere,
    );
    return planDispatch(place.workflow(), {
      now,
      ready: [...(await this.#listHalted(agents)), ...(await this.#listReady(agents))].sort(compareReady),
      agents,
      runs,
      working,
      more_working: more.map(({ agent }) => agent),
      places,
      per_state: scheduler.per_state,
      in_state: await this.#countStates([...scheduler.per_state.keys()]),
      sides: await this.#listSides(),
      backoff: this.#wishes.backoff ?? BACKOFF,
    });
  }

  /** Once for each suspension of an agent. */
  #tellSuspensions(agents: readonly DispatchAgent[], now: number): void {
    for (const { name, suspension } of agents) {
      if (suspension === undefined || suspension.until <= now) continue;
      const { since, fault } = suspension;
      if (this.#suspended.get(name) !== `${fault} ${since}`)
        this.#wishes.tell(describeSuspension(suspension));
      this.#suspended.set(name, `${fault} ${since}`);
    }
  }

  /** Whose attempts there are at tasks that have several. */
  async #listSides(): Promise<Map<string, readonly string[]>> {
    const attempts = await this.#workshop.place.store.listAttempts({ there: true, state: 'active' });
    const byTask = [...Map.groupBy(attempts, ({ task_id }) => task_id)];
    return new Map(
      byTask
        .filter(([, own]) => own.length > 1)
        .map(([id, own]) => [id, own.flatMap(({ agent }) => agent ?? [])]),
    );
  }

  async #listAgents(runs: readonly Run[] = []): Promise<DispatchAgent[]> {
    const { agents, settings, mended, faults = FAULT_RULES } = this.#workshop.place;
    const { per_agent } = settings().scheduler;
    const wanted = this.#wishes.agents;
    const known = agents.list().filter(({ name }) => wanted?.includes(name) ?? true);
    return Promise.all(
      known.map(async ({ name, max, resumed_at }) => ({
        name,
        max: max ?? per_agent,
        paused: await agents.facts.isPaused(name),
        suspension: findSuspension(runs, { name, resumed_at, mended_at: mended.by_person }, faults),
      })),
    );
  }

  /** What nobody has, and what is kept for one of them, in one order. */
  async #listReady(agents: readonly DispatchAgent[]): Promise<Task[]> {
    const { store } = this.#workshop.place;
    const { exclude_types } = this.#wishes;
    const found = new Map<string, Task>();
    for (const { name } of agents) {
      const limit = LIMITS.scheduler_ready;
      const ready = await store.listReady({ assignee: name, exclude_types, limit, to_hand_out: true });
      for (const task of ready) found.set(task.id, task);
    }
    return [...found.values()].filter((task) => this.#isNew(task)).sort(compareReady);
  }

  /** What stands still and belongs to one of them: the agent goes on with its attempt. */
  async #listHalted(agents: readonly DispatchAgent[]): Promise<Task[]> {
    const names = new Set(agents.map(({ name }) => name));
    const halted = await listHalted(
      this.#workshop.place,
      (id) => this.#working.has(id) || this.#workshop.isAtWork(id),
    );
    return halted.filter((task) => this.#isNew(task) && names.has(task.assignee ?? ''));
  }

  #isNew({ id, version }: Task): boolean {
    return this.#refused.get(id) !== version;
  }

  async #countStates(states: readonly string[]): Promise<Map<string, number>> {
    const { store } = this.#workshop.place;
    const counted = states.map(async (state) => [state, (await store.listTasks({ state })).length] as const);
    return new Map(await Promise.all(counted));
  }

  /** What has passed and waits, of the agents that are asked for: also what an earlier process had taken. */
  async #mergePassed(): Promise<number> {
    const { store, workflow } = this.#workshop.place;
    const agents = new Set((await this.#listAgents()).map(({ name }) => name));
    const attempts = await store.listAttempts({ there: true, state: 'active' });
    let started = 0;
    for (const attempt of attempts.filter(({ agent }) => agent !== null && agents.has(agent))) {
      const task = await this.#findPassed(attempt);
      if (task === undefined || passTarget(workflow(), standingState(workflow(), task)) === undefined)
        continue;
      this.#start(task, attempt.agent ?? '');
      started += 1;
    }
    return started;
  }

  async #findPassed({ task_id }: Attempt): Promise<Task | undefined> {
    const { store, workflow } = this.#workshop.place;
    if (this.#working.has(task_id) || this.#workshop.isAtWork(task_id)) return undefined;
    const task = (await findStanding(store, task_id))?.task;
    if (task === undefined) return undefined;
    const isGate = kindOf(workflow(), standingState(workflow(), task)) === 'gate';
    return isGate && this.#isNew(task) && task.review_passed_at !== undefined ? task : undefined;
  }

  #start(task: Task, agent: string): void {
    const { id } = task;
    const done = this.#work(task, agent).finally(() => void this.#working.delete(id));
    this.#working.set(id, { agent, done });
  }

  async #work(task: Task, agent: string): Promise<void> {
    const { merge, tell, unwatched_ms } = this.#wishes;
    const { id, version } = task;
    try {
      const worked = await workTask(this.#workshop, this.#workshop.engine(), {
        id,
        agent,
        merge,
        unwatched_ms,
      });
      this.#worked.set(id, worked);
      // One that did not move would be taken again at once.
      if (worked.task.version === version) this.#refused.set(id, version);
    } catch (error) {
      this.#refused.set(id, version);
      // Somebody else was faster, or it waits for something again: it was not taken.
      if (isForgeError(error) && TAKEN.has(error.code)) return;
      tell(`${id}: ${error instanceof Error ? error.message : String(error)}`);
      const engine = this.#workshop.engine();
      await putUntrustedAside(engine, id, error);
      const worked = await describeWork(this.#workshop, engine, { id, merge }).catch(ignoreGone);
      if (worked !== undefined) this.#worked.set(id, { ...worked, wait: worked.wait ?? toWait(error) });
    }
  }
}

const TAKEN: ReadonlySet<string> = new Set([
  'claim_conflict',
  'dependency_gate',
  'role_conflict',
  'agent_paused',
  'project_paused',
  'version_conflict',
  'not_found',
]);

function compareReady(a: Task, b: Task): number {
  if (a.priority !== b.priority) return a.priority - b.priority;
  if (a.created_at !== b.created_at) return a.created_at < b.created_at ? -1 : 1;
  return a.id < b.id ? -1 : 1;
}
