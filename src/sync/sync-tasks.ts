import { findCurrentBranch, findDefaultBranch, hasRemote } from '#git/branches.ts';
import { fetchBranch } from '#git/exchange-remote.ts';
import type { Writer } from '#store/store.ts';
import type { FoldReport } from '#store/sync-store.ts';
import { exchangeTasks, foldRevision } from './branch-mode.ts';
import { COMMIT_MESSAGE, commitTasks } from './commit-tasks.ts';
import { exportFiles } from './export-files.ts';
import type { WorkflowExchange } from './join-workflows.ts';
import { tellUncommitted } from './flag-secrets.ts';
import { toGitRepo, type Machine } from './machine.ts';
import type { InitMode } from './project-config.ts';
import type { HookProject } from './run-hook.ts';
import { toTaskFiles } from './task-files.ts';

export interface SyncedTasks {
  readonly mode: InitMode;
  readonly fetched: boolean;
  readonly pushed: boolean;
  readonly reason: string | null;
  readonly created: number;
  readonly updated: number;
  readonly deleted: number;
  /** Whether the task files, or the data branch, have something new. */
  readonly changed: boolean;
  /** What became of the workflow, where it travels with the tasks: in branch mode. */
  readonly workflow: WorkflowExchange['outcome'];
  /** The version of it that does not stand, as git names it. */
  readonly other_workflow: string | null;
  /** Keys of the config that were changed on both sides: this clone's values stand. */
  readonly config_lost: readonly string[];
}

interface SyncOptions {
  readonly by: Writer;
  readonly machine: Machine;
  readonly remote: string;
  readonly offline: boolean;
  /** Hears of what the next commit would refuse. */
  readonly tell?: ((line: string) => void) | undefined;
}

const NO_WORKFLOW = { workflow: 'same', other_workflow: null, config_lost: [] } as const;

/** Exchanges what can be exchanged without touching the user's branches. */
export async function syncTasks(project: HookProject, options: SyncOptions): Promise<SyncedTasks> {
  const { config } = project;
  if (config.initMode === 'branch') return syncBranch(project, options);
  const { reports, fetched, reason } =
    config.initMode === 'stealth' || options.offline
      ? { reports: [], fetched: false, reason: null }
      : await fetchTasks(project, options);
  const { tasks, history } = await exportFiles(project.store, toTaskFiles(project.paths), {
    by: { ...options.by, clock: () => options.machine.clock.now() },
    canonical: config.settings.gcOnExport,
  });
  const changed = tasks.changed || history.changed;
  if (config.initMode === 'standard' && options.tell !== undefined)
    for (const line of await tellOfSecrets(project, options.machine)) options.tell(line);
  return { mode: config.initMode, fetched, pushed: false, reason, ...sum(reports), changed, ...NO_WORKFLOW };
}

/** What the next commit would refuse. */
async function tellOfSecrets({ paths }: HookProject, machine: Machine): Promise<string[]> {
  return tellUncommitted(toGitRepo(paths.root, machine), toTaskFiles(paths), { paths, machine });
}

async function syncBranch(project: HookProject, options: SyncOptions): Promise<SyncedTasks> {
  const message = COMMIT_MESSAGE;
  if (options.offline) {
    const { changed } = await commitTasks(project, { ...options, message });
    const nothing = { fetched: false, pushed: false, reason: null, ...sum([]) };
    return { mode: 'branch', ...nothing, changed, ...NO_WORKFLOW };
  }
  const exchanged = await exchangeTasks(project, { ...options, message });
  const { pushed, outcome, reason, reports, workflow, config_lost } = exchanged;
  const fetched = outcome === 'pushed' || outcome === 'up_to_date';
  return {
    mode: 'branch',
    fetched,
    pushed,
    reason: reason ?? null,
    ...sum(reports),
    changed: outcome === 'pushed',
    workflow: workflow.outcome,
    other_workflow: workflow.other,
    config_lost,
  };
}

/** The remote's default branch and the one of this name carry what others committed. */
async function fetchTasks(
  project: HookProject,
  { by, machine, remote }: { by: Writer; machine: Machine; remote: string },
): Promise<{ reports: FoldReport[]; fetched: boolean; reason: string | null }> {
  const repo = toGitRepo(project.paths.root, machine);
  if (!(await hasRemote(repo, remote)))
    return { reports: [], fetched: false, reason: `There is no remote ${remote}` };
  const branches = new Set([await findDefaultBranch(repo), await findCurrentBranch(repo)]);
  const reports: FoldReport[] = [];
  let reason: string | null = null;
  let fetched = false;
  for (const branch of branches) {
    if (branch === undefined) continue;
    const result = await fetchBranch({ repo, remote, branch });
    if ('reason' in result) reason = result.reason ?? null;
    else fetched = true;
    if ('commit' in result && result.commit !== undefined) {
      reports.push(...(await foldRevision(project.store, repo, { rev: result.commit, by })));
    }
  }
  return { reports, fetched, reason: fetched ? null : reason };
}

function sum(reports: readonly FoldReport[]): Pick<SyncedTasks, 'created' | 'updated' | 'deleted'> {
  const total = { created: 0, updated: 0, deleted: 0 };
  for (const { created, updated, deleted } of reports) {
    total.created += created;
    total.updated += updated;
    total.deleted += deleted;
  }
  return total;
}
