import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Workshop } from '#engine/workshop.ts';
import { readSharedModes } from '#git/shared-modes.ts';
import { systemClock } from '#kernel/clock.ts';
import { ForgeError, isForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { Host, Meter, OpenProject, OperationContext, Screen } from '#operations/operation.ts';
import { openStore } from '#store/open-store.ts';
import { isStoreThere } from '#store/store-location.ts';
import { openSteadyTime, openWakefulTime } from '#store/steady-time.ts';
import type { TaskStore } from '#store/store.ts';
import { catchUpWithFiles, type CatchUpSurroundings } from '#sync/catch-up.ts';
import { mayBeDeleted } from '#sync/deleted-config.ts';
import { findProject, type FoundProject } from '#sync/find-project.ts';
import { hasWorkflow } from '#sync/has-workflow.ts';
import { toHomePlace } from '#sync/forge-home.ts';
import { isConnectedToGit } from '#sync/heal-clone.ts';
import type { Machine } from '#sync/machine.ts';
import type { ProjectPaths } from '#sync/project-paths.ts';
import type { ProjectWorkflow } from '#sync/project-workflow.ts';
import { findProgram } from './find-program.ts';
import { holdWhileMending } from './hold-while-mending.ts';
import type { LocalHost } from './local-host.ts';
import type { Examining } from './open-examined.ts';
import { readConfirmed } from './read-confirmed.ts';
import { userHome } from './user-home.ts';
import { VERSION } from './version.ts';

export interface ContextRequest {
  readonly needs: 'project' | 'repository' | 'nothing';
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly actor: string | undefined;
  /** The id, if any, that says which project is meant: it may be another registered one than that around `cwd`. */
  readonly route?: string | undefined;
  /** One line for the person while an operation goes on. */
  readonly progress: (line: string) => void;
  /** One line that somebody should see whatever was asked for: what was mended, what lost a merge. */
  readonly notice: (line: string) => void;
  /** Asks the person at the terminal; left out where there can be none. */
  readonly confirm?: Host['confirm'] | undefined;
  /** A person's own command line; not where a program speaks for somebody. */
  readonly vouches?: boolean | undefined;
  /** The name of what is asked for. What a watcher left that is gone is settled first, unless that does it itself. */
  readonly operation?: string | undefined;
  readonly input?: Readonly<Record<string, unknown>> | undefined;
  /** It only reads, and does not wait for what others write; false where it does not begin on a store that is read-only. */
  readonly reads?: boolean | undefined;
  /** An older database is brought up to date though an older server is at work on it. */
  readonly forces?: boolean | undefined;
  /** The database may be anything: that is what the command is about. */
  readonly examining?: Examining | undefined;
  /** Shows on a terminal how far long work is. */
  readonly meter: Meter;
  /** The one that somebody looks at; left out where there can be none. */
  readonly terminal?:
    | { readonly open: () => Promise<Screen | undefined>; readonly isThere: () => boolean }
    | undefined;
}

/** Config, store and identity for one operation. What a cold read does not use is loaded when it is asked for. */
export async function openContext(asked: ContextRequest): Promise<OperationContext & AsyncDisposable> {
  const request = { ...asked, ...readLook(asked) };
  const { cwd, env } = request;
  const opened = request.needs === 'project' ? await openProject(request) : undefined;
  const project = isForgeError(opened) ? undefined : opened;
  const workshop = project === undefined ? undefined : lazyWorkshop(project, request);
  if (project !== undefined && workshop !== undefined) {
    await settleFirst(project, workshop, request);
    await keepUp(project, request);
  }
  return {
    clock: systemClock,
    cwd,
    vouches: request.vouches,
    trusts: request.vouches,
    async actor() {
      const { findActor } = await import('./find-actor.ts');
      return findActor({ flag: request.actor, env, cwd });
    },
    get project(): OpenProject {
      if (isForgeError(opened)) throw opened;
      if (project === undefined)
        throw new ForgeError('not_a_project', "Not a Forge project. Run 'forge init' first.");
      return project;
    },
    get machine() {
      return toMachine(env);
    },
    get place() {
      return toHomePlace(env, userHome());
    },
    openProject: (found, options) => openFound(found, request, options),
    host: lazyHost(request),
    async workshop() {
      if (workshop === undefined) throw new ForgeError('not_a_project', 'This operation is about no project');
      return workshop.open();
    },
    // A command ends when its answer is told.
    stays: false,
    async [Symbol.asyncDispose]() {
      await workshop?.close();
      await project?.store[Symbol.asyncDispose]();
    },
  };
}

/** A look changes nothing; only what is asked for is mended. */
function readLook({
  operation,
  input = {},
}: ContextRequest): Partial<Pick<ContextRequest, 'examining' | 'reads' | 'forces'>> {
  if (operation !== 'project.doctor') return input['dry_run'] === true ? { reads: true } : {};
  const examining = { fix: input['fix'] === true, rebuild: input['rebuild'] === true };
  return { examining, reads: !examining.fix && !examining.rebuild, forces: input['force'] === true };
}

/** git waits for the first two; whoever stops a run settles it, and says so on its task. */
const SETTLES_NOT: ReadonlySet<string> = new Set(['git.hook', 'git.merge', 'run.stop']);

/** In most projects nobody is at work, which is one query; inside of a run it is not for the agent to do. */
async function settleFirst(
  project: OpenProject,
  workshop: ReturnType<typeof lazyWorkshop>,
  { env, notice, operation = '' }: Pick<ContextRequest, 'env' | 'notice' | 'operation'>,
): Promise<void> {
  if (SETTLES_NOT.has(operation) || project.store.changes_nothing === true) return;
  const open = await project.store.listOpenWork();
  if (open.length === 0) return;
  const { findOwnRun } = await import('#process/find-own-run.ts');
  if (findOwnRun(env) !== undefined) return;
  const { settleLeft } = await import('./settle-left.ts');
  await settleLeft(project, open, { workshop: () => workshop.open(), notice });
}

/** Not before something is examined: that is told as it was found. */
async function keepUp(
  project: OpenProject,
  { reads, examining, env, notice, operation }: ContextRequest,
): Promise<void> {
  if (reads === true || examining !== undefined || project.store.changes_nothing === true) return;
  const { keepUpProject } = await import('./keep-up-project.ts');
  await keepUpProject(project, toMachine(env), { notice, operation });
}

/** Most commands need none. One that was opened ends all it started before the store is closed. */
function lazyWorkshop(
  project: OpenProject,
  { env, notice }: Pick<ContextRequest, 'env' | 'notice'>,
): { open(): Promise<Workshop>; close(): Promise<void> } {
  let opened: Promise<Workshop & AsyncDisposable> | undefined;
  return {
    open: () =>
      (opened ??= import('./local-workshop.ts').then(({ openLocalWorkshop }) =>
        openLocalWorkshop(project, { place: toHomePlace(env, userHome()), machine: toMachine(env), notice }),
      )),
    // The caller that opened it was told why it failed; there is nothing to close then.
    close: async () => (await opened?.catch(() => undefined))?.[Symbol.asyncDispose](),
  };
}

function meterRebuild(meter: Meter): (done: number, total: number) => void {
  return (done, total) => meter('Rebuilding the task database', done, total);
}

/** An error where the project is to be examined and its database is wrong: that is what there is to tell. */
async function openProject(request: ContextRequest): Promise<OpenProject | ForgeError> {
  const { examining, cwd, env, notice, meter } = request;
  try {
    if (examining === undefined) return await openNamedProject(request);
    const found = findProject(cwd, env, userHome());
    const { openExamined } = await import('./open-examined.ts');
    const { paths } = found;
    return await openExamined(examining, {
      paths,
      notice,
      meter: meterRebuild(meter),
      open: () => openFound(found, request),
    });
  } catch (error) {
    // A config of a newer Forge.
    if (examining !== undefined && isForgeError(error) && error.code === 'schema_newer') return error;
    if (!isForgeError(error) || error.code !== 'not_a_project') throw error;
    const { explainNoProject } = await import('#sync/explain-no-project.ts');
    throw await explainNoProject(error, request.cwd, request);
  }
}

async function openNamedProject(request: ContextRequest): Promise<OpenProject> {
  const { cwd, env, route } = request;
  if (route === undefined || !route.includes('-'))
    return openFound(findProject(cwd, env, userHome()), request);
  const here = findProjectOrError(cwd, env);
  // The project's own ids are nearly all that is asked for: one comparison, and nothing more is loaded.
  if ('config' in here && route.startsWith(`${here.config.idPrefix}-`)) return openFound(here, request);
  const { routeProject } = await import('./route-project.ts');
  return routeProject(route, here, {
    place: toHomePlace(env, userHome()),
    open: (found) => openFound(found, request),
  });
}

function toMachine(env: NodeJS.ProcessEnv): Machine {
  return { env, homeDir: userHome(), program: findProgram(), clock: systemClock };
}

/** Outside of every project an id can still lead to one. */
function findProjectOrError(cwd: string, env: NodeJS.ProcessEnv): FoundProject | ForgeError {
  try {
    return findProject(cwd, env, userHome());
  } catch (error) {
    if (isForgeError(error) && error.code === 'not_a_project') return error;
    throw error;
  }
}

/** A command that writes does not begin where its end could not be written down. */
function requireWritable({ store_dir }: FoundProject['paths']): void {
  if (!existsSync(store_dir)) return;
  try {
    accessSync(store_dir, constants.W_OK);
  } catch (error) {
    // What belongs to another user is told when it is opened.
    if ((error as NodeJS.ErrnoException).code !== 'EROFS') return;
    throw new ForgeError('read_only', `The task database in ${store_dir} cannot be written`, {
      hint: 'Reading works: forge ready, forge task list',
      details: { path: store_dir },
      cause: error,
    });
  }
}

/** A project ready to be worked on: its store open, mended, and joined with the task files. */
export async function openFound(
  found: FoundProject,
  request: Pick<ContextRequest, 'env' | 'notice' | 'meter' | 'reads' | 'forces' | 'examining'>,
  options: {
    readonly lock_timeout_ms?: number;
    readonly lock?: 'await';
    /** A server begins with it. */
    readonly begins?: true;
    readonly joinApart?: CatchUpSurroundings['joinApart'];
  } = {},
): Promise<OpenProject & AsyncDisposable> {
  const { env, notice, meter, reads, forces, examining } = request;
  const { paths } = found;
  if (reads === false) requireWritable(paths);
  const was_there = isStoreThere(paths.store);
  // Only a process that stays waits for locks without standing still.
  const wakeful = options.lock === 'await' ? openWakefulTime() : undefined;
  const store = await openStore(paths.store, {
    clock: systemClock,
    steady: wakeful?.read ?? openSteadyTime(),
    lock_timeout_ms: options.lock_timeout_ms ?? lockTimeout(env),
    lock: options.lock,
    begins: options.begins,
    modes: () => readSharedModes(paths.common_dir),
    hold: holdWhileMending,
    notice,
    meter: meterRebuild(meter),
    reads,
    heals: examining === undefined,
    written_by: VERSION,
    async mayUpgrade(from) {
      const { refuseUpgrade } = await import('./refuse-upgrade.ts');
      if (forces !== true) refuseUpgrade(paths, toHomePlace(env, userHome()), from);
    },
  });
  const close = async (): Promise<void> => {
    wakeful?.[Symbol.dispose]();
    await store[Symbol.asyncDispose]();
  };
  try {
    // The files that a merge brings may be those of the tasks.
    if (hasLanding(paths.store_dir)) {
      const { healLanding } = await import('#sync/heal-landing.ts');
      await healLanding(paths, toMachine(env), notice);
    }
    const config = await readConfirmed(found, store, { env, reads });
    const is_connected = config.initMode === 'standard' && isConnectedToGit(paths, findProgram());
    if (config.initMode === 'standard' && !is_connected) {
      const { healClone } = await import('#sync/heal-clone.ts');
      if (await healClone(paths, toMachine(env), notice)) {
        const { tellLeftOutCommits } = await import('#sync/left-out-commits.ts');
        const told = await tellLeftOutCommits(store, paths, toMachine(env));
        if (told !== undefined) notice(told);
      }
    }
    if (config.initMode === 'standard' && env.FORGE_HOOK === undefined && mayBeDeleted(paths)) {
      const { tellDeletedFolder } = await import('#sync/folder-state.ts');
      await tellDeletedFolder(paths, env, notice);
    }
    if (config.mode_changed_at !== undefined) {
      const { isModeNew, settleMode } = await import('#sync/follow-mode.ts');
      if (isModeNew(paths, config)) await settleMode(paths, toMachine(env), { config, notice });
    }
    const was_lost = is_connected && !was_there;
    const folded = await catchUpWithFiles(
      store,
      { paths, config },
      { clock: () => systemClock.now(), notice, meter, env, reads, was_lost, joinApart: options.joinApart },
    );
    const foreign = await readForeign(store, config.idPrefix, env);
    const workflow = await openWorkflow({ paths, store }, { env, notice }, options);
    return {
      paths,
      config,
      store,
      foreign,
      folded,
      workflow: workflow.current,
      lookAtWorkflow: workflow.look,
      checkWorkflow: workflow.check,
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** While a merge is put into a checkout, and after a process was killed at that. */
function hasLanding(folder: string): boolean {
  return statSync(join(folder, 'landing'), { throwIfNoEntry: false }) !== undefined;
}

/** Most projects have no workflow of their own, and a command that meets none loads nothing of what checks one. */
async function openWorkflow(
  { paths, store }: { readonly paths: ProjectPaths; readonly store: OpenProject['store'] },
  around: Pick<ContextRequest, 'env' | 'notice'>,
  { lock }: { readonly lock?: 'await' },
): Promise<Omit<ProjectWorkflow, 'check'> & Partial<Pick<ProjectWorkflow, 'check'>>> {
  if (lock === undefined && !hasWorkflow(paths.forge_dir) && !hasWorkflow(paths.store_dir)) {
    let kept = await store.readKeptWorkflow();
    const look = async (): Promise<void> => void (kept = await store.readKeptWorkflow());
    if (kept.version === 0) return { current: () => kept.workflow, look };
  }
  const { openProjectWorkflow } = await import('#sync/project-workflow.ts');
  return openProjectWorkflow({ paths, store }, { ...around, clock: systemClock });
}

/** Before anything is answered: whether what blocks from other projects is closed by now. Most have no such edge. */
export async function readForeign(
  store: TaskStore,
  prefix: string,
  env: NodeJS.ProcessEnv,
): Promise<OpenProject['foreign']> {
  const edges = await store.listForeign();
  if (edges.length === 0) return new Map();
  const { refreshForeign } = await import('#sync/foreign-tasks.ts');
  return refreshForeign(store, edges, { place: toHomePlace(env, userHome()), prefix });
}

function lockTimeout(env: NodeJS.ProcessEnv): number {
  const text = env.FORGE_LOCK_TIMEOUT_MS;
  if (text === undefined || text === '') return LIMITS.lock_timeout_ms;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isNaN(value)) return value;
  throw new ForgeError(
    'invalid_input',
    `FORGE_LOCK_TIMEOUT_MS is "${text}"; it must be a number of milliseconds`,
  );
}

function lazyHost(request: ContextRequest): Host {
  const load = async (): Promise<LocalHost> =>
    (await import('./local-host.ts')).createLocalHost({ ...request, clock: systemClock });
  return {
    initProject: async (options) => (await load()).initProject(options),
    installHooks: async (options) => (await load()).installHooks(options),
    uninstallHooks: async (options) => (await load()).uninstallHooks(options),
    readHookStatus: async () => (await load()).readHookStatus(),
    run: async (command, args, options) => (await load()).run(command, args, options),
    async serve(wishes) {
      const { runServer } = await import('./serve/run-server.ts');
      return runServer(wishes, request);
    },
    async serveMcp() {
      const { startMcp } = await import('./start-mcp.ts');
      await startMcp(request);
    },
    confirm: async (asked) => (await request.confirm?.(asked)) ?? 'nobody',
    makeTemporaryFolder: async (prefix) => (await load()).makeTemporaryFolder(prefix),
    removeFolder: async (path, options) => (await load()).removeFolder(path, options),
    writeFile: async (path, text) => (await load()).writeFile(path, text),
    get interactive() {
      return process.stdin.isTTY && process.stdout.isTTY;
    },
    progress: request.progress,
    notice: request.notice,
    meter: request.meter,
    openScreen: request.terminal?.open,
    get runOnTerminal() {
      if (request.terminal?.isThere() !== true) return undefined;
      return async (...given: Parameters<LocalHost['runOnTerminal']>): Promise<number> =>
        (await load()).runOnTerminal(...given);
    },
  };
}
