import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Task, TaskView } from '#contract/task.ts';
import type { Workflow } from '#contract/workflow.ts';
import type { Actor } from '#domain/actor.ts';
import { DEFAULT_WORKFLOW } from '#domain/default-workflow.ts';
import { claimTask } from '#engine/change-task.ts';
import type { Engine } from '#engine/engine.ts';
import { transitionTask } from '#engine/transition-task.ts';
import { Workshop } from '#engine/workshop.ts';
import type { ManagedAgent, WorkNews, WorkPlace } from '#engine/work.ts';
import { createExecutor } from '#executors/create-executor.ts';
import { openProcessHost } from '#process/process-host.ts';
import { readOwnIdentity } from '#process/process-identity.ts';
import { openTrust } from '#sync/trust.ts';
import { readPersonalSettings, type WorkSettings } from '#sync/work-settings.ts';
import { ANN, sqliteEngine, type SqliteEngine } from './temp-engine.ts';
import { tempFolder, tempRepo, type TempRepo } from './temp-repo.ts';
import { systemClock, toIso } from '#kernel/clock.ts';

const PLAYER = fileURLToPath(new URL('./executor-player.ts', import.meta.url));

type Sections = Omit<WorkSettings, 'prices'>;
type Settings = { readonly [Part in keyof Sections]?: Partial<Sections[Part]> };

export interface TempWorkshop extends AsyncDisposable {
  readonly repo: TempRepo;
  readonly place: WorkPlace;
  readonly workshop: Workshop;
  readonly engine: SqliteEngine;
  readonly news: WorkNews[];
  /** Agents that claim nothing for now. */
  readonly paused: Set<string>;
  /** An agent that runs this script of bash in the attempt's folder, with the prompt on its input. */
  addAgent(name: string, script: string, more?: Partial<ManagedAgent>): void;
  removeAgent(name: string): void;
  create(title: string, more?: { steps?: readonly string[]; description?: string }): Promise<Task>;
  /** As this caller, with a workshop that stays. */
  as(actor?: Actor): Engine;
  /** A claim for the agent, and all that follows until nothing is at work. */
  work(task: Task, agent: string): Promise<TaskView>;
  move(task: Task, to: string, actor?: Actor): Promise<TaskView>;
  set(settings: Settings): void;
}

/** A repository with one commit, a store, and everything that works on its tasks. */
export async function tempWorkshop(
  options: {
    readonly env?: Readonly<Record<string, string>>;
    readonly faults?: WorkPlace['faults'];
    readonly workflow?: Workflow;
  } = {},
): Promise<TempWorkshop> {
  const [repo, home, engine] = await Promise.all([
    tempRepo(),
    tempFolder({ folder: 'home' }),
    sqliteEngine(options.workflow ?? DEFAULT_WORKFLOW),
  ]);
  await repo.write('README.md', 'first\n');
  repo.git('add', '-A');
  repo.git('commit', '-qm', 'first');
  const agents = new Map<string, ManagedAgent>();
  const added = new Map<string, string>();
  const paused = new Set<string>();
  const news: WorkNews[] = [];
  let settings = readPersonalSettings(home.path);
  const processes = await openProcessHost({ accept: ['marker'] });
  const workshop = new Workshop({
    store: engine.temp.store,
    clock: systemClock,
    repo: {
      worktree: repo.path,
      git_dir: join(repo.path, '.git'),
      common_dir: join(repo.path, '.git'),
      env: process.env,
    },
    project: { name: 'demo', prefix: 'fg', root: repo.path },
    workflow: () => engine.workflow,
    settings: () => settings,
    agents: {
      find: (name) => agents.get(name),
      list: () => [...agents.values()],
      facts: {
        isPaused: async (name) => paused.has(name),
        isManaged: async (name) => agents.has(name),
        readManaged: async () => new Set(agents.keys()),
        readAll: async () =>
          new Map(
            [...agents.keys()].map((name) => [name, { paused: paused.has(name), added_at: added.get(name) }]),
          ),
      },
    },
    executorFor: async (profile) =>
      createExecutor(profile, {
        clock: systemClock,
        processes,
        player: [process.execPath, PLAYER],
        version: '0',
      }),
    processes: async () => processes,
    watcher: { ...readOwnIdentity(), daemon_id: crypto.randomUUID() },
    root: join(home.path, 'worktrees'),
    home: home.path,
    records: join(repo.path, '.git', 'forge', 'attempts'),
    env: { ...process.env, HOME: home.path, ...options.env },
    faults: options.faults,
    // Every command is the person's own; what an attempt makes of its scripts is not.
    trust: openTrust({
      home: home.path,
      paths: { root: repo.path, common_dir: join(repo.path, '.git') },
      owns: () => true,
    }),
    trustsAgentSettings: () => true,
  });
  const { place } = workshop;
  workshop.listen((one) => void news.push(one));
  const as = (actor: Actor = ANN): Engine => ({
    ...engine.as(actor),
    agents: place.agents.facts,
    work: async () => workshop,
    follows: true,
  });
  return {
    repo,
    place,
    workshop,
    engine,
    news,
    paused,
    addAgent(name, script, more = {}) {
      // One that is there is changed, not added.
      if (!agents.has(name)) added.set(name, toIso(systemClock.now()));
      agents.set(name, {
        name,
        profile: { executor: 'shell', command: ['bash', '-c', script], permissions: 'all' },
        env: {},
        ...more,
      });
    },
    removeAgent: (name) => void agents.delete(name),
    async create(title, { steps, description = '' } = {}) {
      const { id } = await engine.create(title);
      const fields = new Map([['review_config', { ci_steps: [...(steps ?? [])] }]]);
      return engine.temp.store.updateTask(
        { id, description, ...(steps !== undefined && { workflow_fields: fields }) },
        { actor: ANN, now: engine.temp.clock.now() },
      );
    },
    as,
    async work({ id }, agent) {
      const claimed = await claimTask(as(), { id, assignee: agent, force: false });
      if (claimed.outcome !== 'claimed') throw new Error(`not claimed: ${claimed.outcome}`);
      await workshop.settled();
      return engine.temp.store.getTask(id);
    },
    async move({ id }, to, actor) {
      await transitionTask(as(actor), { id, to, reason: null });
      await workshop.settled();
      return engine.temp.store.getTask(id);
    },
    set(more) {
      const parts = Object.entries(more).map(([part, values]) => [
        part,
        { ...settings[part as keyof Sections], ...values },
      ]);
      settings = { ...settings, ...(Object.fromEntries(parts) as Partial<WorkSettings>) };
    },
    async [Symbol.asyncDispose]() {
      await workshop.settled();
      await engine[Symbol.asyncDispose]();
      await repo[Symbol.asyncDispose]();
      await home[Symbol.asyncDispose]();
    },
  };
}
