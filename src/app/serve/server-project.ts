import type { Workshop } from '#engine/workshop.ts';
import type { Clock } from '#kernel/clock.ts';
import { ForgeError } from '#kernel/errors.ts';
import { SharedWork } from '#kernel/shared-work.ts';
import type { OpenProject } from '#operations/operation.ts';
import { runProgram } from '#process/run-program.ts';
import { catchUpWithFiles } from '#sync/catch-up.ts';
import { confirmConfig } from '#sync/confirm-config.ts';
import { statFile } from '#sync/file-changes.ts';
import { type FoundProject } from '#sync/find-project.ts';
import { findGatePaths } from '#sync/gate-files.ts';
import type { HomePlace } from '#sync/forge-home.ts';
import type { ForgeProgram } from '#sync/forge-program.ts';
import { refreshDatabaseLink } from '#sync/link-database.ts';
import { listPushRecords } from '#sync/push-records.ts';
import { toTaskFiles } from '#sync/task-files.ts';
import { readWorkSettings } from '#sync/work-settings.ts';
import { keepIdentity } from '../keep-identity.ts';
import type { ProcessKeeper } from '../keep-processes.ts';
import { isUpkeepDue } from '#sync/upkeep-mark.ts';
import { refreshSharedFiles } from '../keep-up-project.ts';
import { hideForeign } from '#sync/foreign-tasks.ts';
import { openFound, readForeign } from '../open-context.ts';
import { OpenedProject } from './opened-project.ts';
import type { ProjectWorkshop } from './project-workshop.ts';
import { tellChanges } from './tell-changes.ts';

export interface ProjectSurroundings {
  readonly place: HomePlace;
  readonly clock: Clock;
  readonly env: NodeJS.ProcessEnv;
  /** This program, to be started beside the server for work that would hold it up. */
  readonly program: ForgeProgram;
  /** What holds the agents of all its projects; left out, each has its own. */
  readonly processes?: ProcessKeeper | undefined;
  /** One line for the server's log. */
  readonly notice: (line: string) => void;
}

const SEND_AGAIN_MS = 5_000;

/** One project of a server, with a store that stays open. */
export class ServerProject implements AsyncDisposable {
  readonly store_id: string;
  readonly #around: ProjectSurroundings;
  #name: string;
  #found: FoundProject;
  #open: OpenedProject;
  /** How often the store was replaced: its numbers begin anew with each. */
  generation = 0;
  /** Work on the files is done by one at a time. */
  #keepingUp: Promise<void> | undefined;
  /** Why it could not be done. */
  readonly #tellFault = tellChanges((why) => this.#around.notice(`${this.#name}: ${why}`));
  #workshop: Promise<ProjectWorkshop> | undefined;
  /** A repository may name thousands of tasks of others, and many may ask at the same time. */
  readonly #foreign = new SharedWork<OpenProject['foreign']>();
  /** What the larger files looked like when a child was last sent to read them, and when. */
  #sent = { files: '', at: 0 };

  static async open(found: FoundProject, name: string, around: ProjectSurroundings): Promise<ServerProject> {
    const opened = await openProject(found, around);
    const { config, paths } = opened.project;
    return new ServerProject({ ...found, config }, name, around, {
      opened,
      store_id: keepIdentity(paths, config).store_id,
    });
  }

  private constructor(
    found: FoundProject,
    name: string,
    around: ProjectSurroundings,
    { opened: open, store_id }: { readonly opened: OpenedProject; readonly store_id: string },
  ) {
    this.store_id = store_id;
    this.#found = found;
    this.#name = name;
    this.#around = around;
    this.#open = open;
  }

  get name(): string {
    return this.#name;
  }

  get prefix(): string {
    return this.#found.config.idPrefix;
  }

  /** Top folder of the working tree. */
  get path(): string {
    return this.#found.paths.root;
  }

  get found(): FoundProject {
    return this.#found;
  }

  /** Another prefix makes another project. */
  isOf({ config }: FoundProject, storeId: string): boolean {
    return storeId === this.store_id && config.idPrefix === this.prefix;
  }

  /** Takes a newer config over, unless an unmerged attempt wrote it. */
  async follow(found: FoundProject): Promise<void> {
    const { env } = this.#around;
    const config = await this.use(({ store }) => confirmConfig(found, store, { env, reads: true }));
    // With another prefix it is another project, as soon as the person registers it.
    if (config.idPrefix === this.prefix) this.#found = { ...found, config };
  }

  rename(name: string): void {
    this.#name = name;
  }

  /** The store as it is now. It stays open as long as the work goes on, also when it is replaced meanwhile. */
  async use<T>(work: (project: OpenProject) => Promise<T>): Promise<T> {
    return this.#open.use((project) => work(withFacts(project, this.#found)));
  }

  /**
   * The same for an operation: with what other projects say about the tasks that something here waits for, where the
   * caller may know of these projects.
   */
  useForOperation<T>(work: (project: OpenProject) => Promise<T>, within?: readonly string[]): Promise<T> {
    return this.use(async (project) => {
      await project.store.readFormat();
      await project.lookAtWorkflow();
      const read = (): Promise<OpenProject['foreign']> =>
        readForeign(project.store, this.prefix, this.#around.env);
      const foreign = await this.#foreign.ask(read);
      return work(withFacts(project, { foreign: hideForeign(foreign, within) }));
    });
  }

  /** What checks, merges and starts agents in this project; opened by the first who asks. */
  workshop(): Promise<Workshop> {
    const { place, clock, env, program, notice, processes } = this.#around;
    const machine = { env, homeDir: place.homeDir, program, clock };
    const opened = (this.#workshop ??= import('./project-workshop.ts').then(({ openProjectWorkshop }) =>
      openProjectWorkshop(this.#found, { place, machine, notice, processes }),
    ));
    // What was wrong, such as a setting, may have been mended by the next time.
    opened.catch(() => {
      if (this.#workshop === opened) this.#workshop = undefined;
    });
    return opened.then(({ workshop }) => workshop);
  }

  /** Since when agents claim nothing here; null while they may. */
  readPause(): Promise<string | null> {
    return this.use(({ store }) => store.readPause());
  }

  /** Whether this server starts agents for what is ready here. */
  async dispatches(isWished: boolean): Promise<boolean> {
    if (isWished) return true;
    const { settings } = await this.use((project) => findGatePaths(project, this.#around));
    return readWorkSettings({ paths: settings }, this.#around.place.home).scheduler.enabled;
  }

  /** Whether somebody was at work here whose folders are still there, or who may have been killed. */
  hasWork(): Promise<boolean> {
    return this.use(
      async ({ store }) =>
        (await store.listWatchedTasks()).length > 0 ||
        (await store.listAttempts({ there: true })).length > 0 ||
        // A push that was rejected is tried again when nothing else is left to do.
        listPushRecords(this.#found.paths.store_dir).length > 0,
    );
  }

  /** Ends everything that is at work here; tasks go back to where the next start takes them up. Idempotent. */
  async stopWork(): Promise<void> {
    await (await this.#workshop?.catch(() => undefined))?.workshop.stop();
  }

  /** Joins changed task files in, and follows a database that others replaced. Never rejects. */
  keepUp(): Promise<void> {
    this.#keepingUp ??= this.#keepUpOnce()
      .then(
        () => '',
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      )
      .then(this.#tellFault)
      .finally(() => (this.#keepingUp = undefined));
    return this.#keepingUp;
  }

  async #keepUpOnce(): Promise<void> {
    const { paths } = this.#found;
    if (this.#open.isReplaced) await this.#replace();
    await this.#followWork();
    refreshDatabaseLink(paths);
    await this.use(async ({ store, checkWorkflow, lookAtWorkflow }) => {
      await lookAtWorkflow();
      await refreshSharedFiles({ paths, store, checkWorkflow }, this.#around);
      const { clock, notice, env } = this.#around;
      const joinApart = (): Promise<void> => this.#joinApart();
      await catchUpWithFiles(store, this.#found, { clock: () => clock.now(), notice, env, joinApart });
      await store.keepBounded(clock.now());
      if (!isUpkeepDue(paths.store_dir, clock.now())) return;
      const { keepDiskBounded } = await import('../keep-disk-bounded.ts');
      const { home } = this.#around.place;
      await keepDiskBounded({ paths, store }, { clock, env, home }, (line) =>
        notice(`${this.name}: ${line}`),
      );
    });
  }

  /** By a process of its own: joining the files in may take longer than a server may stand still. */
  async #joinApart(): Promise<void> {
    const { tasks, history } = toTaskFiles(this.#found.paths);
    const seen = [tasks, history].map((path) => describeState(path)).join(' ');
    const now = this.#around.clock.now();
    // What a child could not do, the next one most likely cannot do either.
    if (seen === this.#sent.files && now - this.#sent.at < SEND_AGAIN_MS) return;
    this.#sent = { files: seen, at: now };
    await importAside(this.#found, this.#around);
  }

  async #replace(): Promise<void> {
    const before = this.#open;
    this.#open = await openProject(this.#found, this.#around);
    this.generation += 1;
    await before.retire();
    await this.#followWork();
  }

  /** What is at work here has a connection of its own. */
  async #followWork(): Promise<void> {
    await (await this.#workshop?.catch(() => undefined))?.follow();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#workshop?.catch(() => undefined))?.[Symbol.asyncDispose]();
    await this.#keepingUp;
    await this.#open.retire();
  }
}

/** The same project with newer facts. */
function withFacts(project: OpenProject, facts: Partial<OpenProject>): OpenProject {
  return { ...project, ...facts };
}

async function openProject(found: FoundProject, around: ProjectSurroundings): Promise<OpenedProject> {
  const { env, notice } = around;
  const joinApart = (): Promise<void> => importAside(found, around);
  const request = { env, notice, meter: () => undefined };
  const project = await openFound(found, request, { lock: 'await', joinApart, begins: true });
  return new OpenedProject(project);
}

function describeState(path: string): string {
  const stats = statFile(path);
  return stats === undefined ? `${path} -` : `${path} ${stats.mtimeNs} ${stats.size}`;
}

async function importAside(
  { paths }: FoundProject,
  { program, env, notice }: ProjectSurroundings,
): Promise<void> {
  const args = [program.script, '-C', paths.root, 'import', '--json'];
  const { exit, stdout, stderr } = await runProgram(program.node, args, { cwd: paths.root, env });
  for (const line of stderr.split('\n').filter((text) => text !== '')) notice(line.replace(/^forge: /, ''));
  if (exit !== 0)
    throw new ForgeError('io_failed', `The task files were not joined in: ${toMessage(stdout)}`);
}

function toMessage(stdout: string): string {
  try {
    return String((JSON.parse(stdout) as { error?: { message?: unknown } }).error?.message);
  } catch {
    return stdout.slice(0, 500);
  }
}
