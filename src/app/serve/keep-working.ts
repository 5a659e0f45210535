import type { Scheduler } from '#engine/scheduler.ts';
import type { Workshop } from '#engine/workshop.ts';
import type { Clock } from '#kernel/clock.ts';
import { KEPT_LIMITS } from '#kernel/kept-limits.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { ServerProjects } from '../server-projects.ts';
import type { ServerProject } from './server-project.ts';

export interface KeepingWishes {
  /** Start agents for whatever is ready, whatever the settings say. */
  readonly dispatch: boolean;
  readonly clock: Clock;
  readonly notice: (line: string) => void;
}

export interface Keeping {
  /** Nothing more is started, and what is at work here ends. Idempotent. */
  stop(): Promise<void>;
}

/**
 * Looks after the work of every project as long as the server runs: goes on with what others left when they were
 * killed, removes folders whose time has come, and starts what is ready where that is wanted. One look at a time in
 * each project, and none keeps the others back.
 */
export function keepWorking(projects: ServerProjects, wishes: KeepingWishes): Keeping {
  const keepers = new Map<ServerProject, ProjectKeeper>();
  let stopping: Promise<void> | undefined;
  const look = (): void => {
    const now = projects.list();
    for (const known of keepers.keys()) if (!now.includes(known)) keepers.delete(known);
    for (const project of now) {
      const keeper = keepers.get(project) ?? new ProjectKeeper(project, wishes);
      keepers.set(project, keeper);
      keeper.look();
    }
  };
  const timer = setInterval(look, LIMITS.dispatch_poll_ms).unref();
  look();
  const stop = async (): Promise<void> => {
    clearInterval(timer);
    await Promise.all(projects.list().map((project) => project.stopWork()));
    await Promise.all([...keepers.values()].map((keeper) => keeper.settled()));
  };
  return { stop: () => (stopping ??= stop()) };
}

/** What one project of a server needs done now and then. */
class ProjectKeeper {
  readonly #project: ServerProject;
  readonly #wishes: KeepingWishes;
  readonly #tried = new Set<string>();
  #scheduler: { readonly workshop: Workshop; readonly scheduler: Scheduler } | undefined;
  #looking: Promise<void> | undefined;
  /** When it was last done. */
  #recovered = 0;
  #cleaned = 0;
  #roomed = 0;
  #told = '';
  /** The newest event at the last look for what may be started, and when that is worth one without another event. */
  #seen = -1;
  #due = { from: 0, until: 0 };

  constructor(project: ServerProject, wishes: KeepingWishes) {
    this.#project = project;
    this.#wishes = wishes;
  }

  /** Never rejects; what goes wrong again and again is told once. */
  look(): void {
    this.#looking ??= this.#look()
      .then(() => void (this.#told = ''))
      .catch((error: unknown) => {
        const why = error instanceof Error ? error.message : String(error);
        if (why !== this.#told) this.#wishes.notice(`${this.#project.name}: ${why}`);
        this.#told = why;
      })
      .finally(() => (this.#looking = undefined));
  }

  async settled(): Promise<void> {
    await this.#looking;
  }

  async #look(): Promise<void> {
    const now = this.#wishes.clock.now();
    const isDue = now - this.#recovered >= LIMITS.recover_ms;
    if (this.#scheduler === undefined && !isDue) return;
    const dispatches = await this.#project.dispatches(this.#wishes.dispatch);
    // Most projects of most servers have no work, and get neither its code nor a second connection for it.
    if (!dispatches && !(await this.#project.hasWork())) return void (this.#recovered = now);
    const workshop = await this.#project.workshop();
    if (workshop.place.signal.aborted) return;
    const { recoverProject, watchOver } = await import('#engine/recover-project.ts');
    if (this.#recovered === 0) await recoverProject(workshop, { tried: this.#tried });
    else if (isDue) await watchOver(workshop, { tried: this.#tried });
    if (isDue) this.#recovered = now;
    if (now - this.#cleaned >= LIMITS.cleanup_ms) {
      this.#cleaned = now;
      const { removeOverdue } = await import('#engine/retire-attempts.ts');
      await removeOverdue(workshop.place, (task) => workshop.isAtWork(task));
    }
    if (now - this.#roomed >= KEPT_LIMITS.upkeep_ms) {
      this.#roomed = now;
      const { keepRoom } = await import('#engine/recover-project.ts');
      await keepRoom(workshop);
    }
    await this.#dispatch(workshop, dispatches);
  }

  async #dispatch(workshop: Workshop, dispatches: boolean): Promise<void> {
    if (!dispatches) return void (this.#scheduler = undefined);
    if (this.#scheduler?.workshop !== workshop) {
      this.#scheduler = { workshop, scheduler: await this.#createScheduler(workshop) };
      this.#seen = -1;
    }
    const now = this.#wishes.clock.now();
    const newest = await workshop.place.store.newestEvent();
    const { from, until: due } = this.#due;
    // A clock that was set back puts nothing off.
    if (newest === this.#seen && now >= from && now < due) return;
    const { until = Number.POSITIVE_INFINITY } = await this.#scheduler.scheduler.tick();
    this.#seen = newest;
    // Settings, and processes that have gone, are no events.
    this.#due = { from: now, until: Math.min(until, now + LIMITS.recover_ms) };
  }

  async #createScheduler(workshop: Workshop): Promise<Scheduler> {
    const { name, found } = this.#project;
    const { Scheduler: Starter } = await import('#engine/scheduler.ts');
    return new Starter(workshop, {
      // What passed goes on by itself where the settings say so.
      merge: false,
      exclude_types: found.config.ready.excludeTypes,
      tell: (line) => this.#wishes.notice(`${name}: ${line}`),
    });
  }
}
