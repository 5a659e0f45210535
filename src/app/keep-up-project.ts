import { isForgeError } from '#kernel/errors.ts';
import type { Store } from '#store/open-store.ts';
import { findForgeHome } from '#sync/forge-home.ts';
import { GateFiles } from '#sync/gate-files.ts';
import { hasWorkflow } from '#sync/has-workflow.ts';
import type { AttemptLister } from '#sync/held-lines.ts';
import { refreshDatabaseLink } from '#sync/link-database.ts';
import type { Machine } from '#sync/machine.ts';
import { areEntriesKnown, rememberProgram } from '#sync/program-memory.ts';
import type { ProjectPaths } from '#sync/project-paths.ts';
import { refreshSharedConfig } from '#sync/shared-config.ts';
import { isUpkeepDue } from '#sync/upkeep-mark.ts';
import type { WorkflowCheck } from '#sync/workflow-file.ts';
import { sweepTemporaryFiles } from '#sync/sweep-temporary-files.ts';

/** What keeps the files from being kept up; a command that needs none of them does what it was asked for. */
const PUTS_OFF: ReadonlySet<string> = new Set(['disk_full', 'read_only', 'permission_denied', 'io_failed']);

interface UpkeepProject {
  readonly paths: ProjectPaths;
  readonly store: Pick<
    Store,
    | 'listAttempts'
    | 'keepBounded'
    | 'readKeptWorkflow'
    | 'getRun'
    | 'getAttempt'
    | 'listHeads'
    | 'isDaemonOver'
  >;
}

/** git waits for the first two, and the third tells what it has removed. */
const KEEPS_NO_DISK: ReadonlySet<string> = new Set(['git.hook', 'git.merge', 'sync.gc']);

/** A command that may write also keeps up what others rely on, before it begins. */
export async function keepUpProject(
  { paths, store }: UpkeepProject,
  machine: Machine,
  {
    notice,
    operation = '',
  }: { readonly notice: (line: string) => void; readonly operation?: string | undefined },
): Promise<void> {
  await keepUpFiles({ paths, store }, machine, notice).catch((error: unknown) => {
    if (!isForgeError(error) || !PUTS_OFF.has(error.code)) throw error;
    // Where nothing can be written the command itself tells more.
    if (error.code !== 'read_only') notice(`${error.message}; the next command tries again`);
  });
  await store.keepBounded(machine.clock.now());
  if (!KEEPS_NO_DISK.has(operation)) await keepDisk({ paths, store }, machine, notice);
}

/** Once in a while: logs and rescue refs. Never inside of a run, whose agent has nothing to remove. */
async function keepDisk(
  project: UpkeepProject,
  machine: Machine,
  notice: (line: string) => void,
): Promise<void> {
  if (!isUpkeepDue(project.paths.store_dir, machine.clock.now())) return;
  const { findOwnRun } = await import('#process/find-own-run.ts');
  if (findOwnRun(machine.env) !== undefined) return;
  const { keepDiskBounded } = await import('./keep-disk-bounded.ts');
  const home = findForgeHome(machine.env, machine.homeDir);
  await keepDiskBounded(project, { ...machine, home }, notice);
}

type SharedFilesStore = AttemptLister & Pick<Store, 'readKeptWorkflow'>;

/** Shared copies, the link, and entries that start this program. */
async function keepUpFiles(
  { paths, store }: { readonly paths: ProjectPaths; readonly store: SharedFilesStore },
  machine: Machine,
  notice: (line: string) => void,
): Promise<void> {
  await refreshSharedFiles({ paths, store }, machine);
  refreshDatabaseLink(paths);
  // Of shared copies, memories of hooks and of programs: a process that was killed leaves what it was writing.
  sweepTemporaryFiles(paths.store_dir);
  if (areEntriesKnown(paths, machine.program)) return;
  const { healMcpEntries } = await import('#sync/heal-mcp.ts');
  await healMcpEntries(paths.root, machine, notice);
  rememberProgram(paths, machine.program);
}

/** The copies of config and workflow; not of those that an agent wrote in an unmerged attempt. */
export async function refreshSharedFiles(
  {
    paths,
    store,
    checkWorkflow,
  }: {
    readonly paths: ProjectPaths;
    readonly store: SharedFilesStore;
    readonly checkWorkflow?: WorkflowCheck | undefined;
  },
  machine: Pick<Machine, 'env'>,
): Promise<void> {
  const gates = new GateFiles({ paths, store }, machine);
  await gates.look();
  if (!gates.isHeld('config.json')) refreshSharedConfig(paths);
  if (!hasWorkflow(paths.forge_dir) || gates.isHeld('workflow.json')) return;
  const { refreshSharedWorkflow } = await import('#sync/workflow-file.ts');
  const { digest } = await store.readKeptWorkflow();
  refreshSharedWorkflow(paths, {
    ...(checkWorkflow !== undefined && { check: checkWorkflow }),
    ...(digest !== undefined && { counts: digest }),
  });
}
