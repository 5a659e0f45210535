import { askGit, type GitRepo } from '#git/ask-git.ts';
import { hasRemote } from '#git/branches.ts';
import type { ExchangeResult } from '#git/exchange-branch.ts';
import { fetchRemote } from '#git/exchange-remote.ts';
import { ForgeError, type ErrorCode } from '#kernel/errors.ts';
import type { Writer } from '#store/store.ts';
import type { FoldReport } from '#store/replication.ts';
import { exchangeTasks } from './branch-mode.ts';
import { COMMIT_MESSAGE, commitTasks } from './commit-tasks.ts';
import { describeKeptIdentities, describeUnreadable } from './describe-fold.ts';
import { exportFiles } from './export-files.ts';
import { findModeChange, followModeChange } from './follow-mode.ts';
import { toExportSource } from './export-source.ts';
import { joinBranches } from './join-branches.ts';
import type { WorkflowExchange } from './join-workflows.ts';
import { tellUncommitted } from './flag-secrets.ts';
import { toGitRepo, type Machine } from './machine.ts';
import type { InitMode } from './project-config.ts';
import type { HookProject } from './run-hook.ts';
import { HISTORY_PATH, TASKS_PATH, toTaskFiles } from './task-files.ts';

export interface SyncedTasks {
  readonly mode: InitMode;
  readonly fetched: boolean;
  readonly pushed: boolean;
  readonly reason: string | null;
  readonly created: number;
  readonly updated: number;
  readonly deleted: number;
  /** Tasks whose checks, roles or status changed, with what of them did. */
  readonly gates: readonly ChangedGates[];
  /** Branch mode: whether something was pushed. Otherwise: whether this clone has task changes that are not committed. */
  readonly changed: boolean;
  /** What became of the workflow, where it travels with the tasks: in branch mode. */
  readonly workflow: WorkflowExchange['outcome'];
  /** The version of it that does not stand, as git names it. */
  readonly other_workflow: string | null;
  /** Keys of the config that were changed on both sides: this clone's values stand. */
  readonly config_lost: readonly string[];
}

export interface ChangedGates {
  readonly id: string;
  readonly what: readonly string[];
}

interface SyncOptions {
  readonly by: Writer;
  readonly machine: Machine;
  readonly remote: string;
  /** Whether the person named the remote. */
  readonly named?: boolean | undefined;
  readonly offline: boolean;
  /** Hears of what the next commit would refuse. */
  readonly tell?: ((line: string) => void) | undefined;
}

const NO_WORKFLOW = { workflow: 'same', other_workflow: null, config_lost: [] } as const;

/**
 * Exchanges what can be exchanged without touching the user's branches. In standard mode the working tree stays as it
 * is too: a file written here would be in the way of the next pull. Throws where the remote cannot be reached or
 * refuses; what was joined before that stays.
 */
export async function syncTasks(project: HookProject, options: SyncOptions): Promise<SyncedTasks> {
  const { config, store, paths } = project;
  if (config.initMode === 'branch') return syncBranch(project, options);
  if (config.initMode === 'stealth') return writeFiles(project, options);
  const waiting = await hasUncommitted(project, options.machine);
  const got = options.offline ? OFFLINE : await fetchTasks(project, options);
  const { reports, fetched, reason } = got;
  const change = await findModeChange(toGitRepo(paths.root, options.machine), config, store);
  if (change !== undefined) {
    const moved = await followModeChange(paths, options.machine, change);
    options.tell?.(
      `Another clone moved the tasks of this project to the branch ${change.branch}: this one follows`,
    );
    const synced = await syncBranch({ paths, store, config: moved }, options);
    return { ...synced, ...addUp(sum(reports), synced) };
  }
  if (options.tell !== undefined)
    for (const line of await tellOfSecrets(project, options.machine)) options.tell(line);
  return {
    mode: 'standard',
    fetched,
    pushed: false,
    reason,
    ...sum(reports),
    changed: waiting || got.elsewhere,
    ...NO_WORKFLOW,
  };
}

const OFFLINE = { reports: [], elsewhere: false, fetched: false, reason: null } as const;

/** In stealth mode nothing is exchanged, and the file is a copy for the person. */
async function writeFiles(project: HookProject, options: SyncOptions): Promise<SyncedTasks> {
  const { store, paths, config } = project;
  const { tasks, history } = await exportFiles(store, toTaskFiles(paths), {
    by: { ...options.by, clock: () => options.machine.clock.now() },
    source: toExportSource(project, options.machine),
    canonical: config.settings.gcOnExport,
  });
  const nothing = { fetched: false, pushed: false, reason: null, ...sum([]) };
  return { mode: 'stealth', ...nothing, changed: tasks.changed || history.changed, ...NO_WORKFLOW };
}

/** Whether this clone knows something of its tasks that its branch does not have. */
async function hasUncommitted({ store, paths }: HookProject, machine: Machine): Promise<boolean> {
  const [mark] = await store.readMarks([toTaskFiles(paths).tasks]);
  if (mark === undefined || mark.event_seq !== (await store.newestEvent())) return true;
  const args = ['status', '--porcelain', '--', `:(top)${TASKS_PATH}`, `:(top)${HISTORY_PATH}`];
  return (await askGit(toGitRepo(paths.root, machine), args)).stdout !== '';
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
  // Clones that did not move yet commit tasks to the branches they work on.
  const earlier = project.config.mode_changed_at === undefined ? OFFLINE : await fetchTasks(project, options);
  const exchanged = await exchangeTasks(project, { ...options, message });
  const { pushed, outcome, reason, reports, workflow, config_lost } = exchanged;
  for (const line of describeBranchUnreadable(exchanged, project.config.branchName)) options.tell?.(line);
  if (outcome === 'no_remote' && options.named === true) throw noRemote(options.remote);
  tellKeptIdentities(reports, options.tell);
  refuseFailure(outcome, reason, `The tasks are on the branch ${project.config.branchName} of this clone`);
  return {
    mode: 'branch',
    fetched: outcome === 'pushed' || outcome === 'up_to_date',
    pushed,
    reason: reason ?? null,
    ...sum([...earlier.reports, ...reports]),
    changed: outcome === 'pushed',
    workflow: workflow.outcome,
    other_workflow: workflow.other,
    config_lost,
  };
}

function tellKeptIdentities(reports: readonly FoldReport[], tell: SyncOptions['tell']): void {
  const ids = new Set(reports.flatMap((report) => report.kept_identities ?? []));
  for (const line of describeKeptIdentities([...ids])) tell?.(line);
}

function describeBranchUnreadable(
  { reports, unreadable }: Pick<Awaited<ReturnType<typeof exchangeTasks>>, 'reports' | 'unreadable'>,
  branch = '',
): string[] {
  // The last of the reports is of the files as they are on the branch now.
  const told = reports.at(-1)?.unreadable ?? [];
  const toTold = (lines: readonly string[]): typeof told =>
    lines.length === told.length ? told : lines.map(() => ({ number: 0, why: '' }));
  return [
    ...describeUnreadable(`${branch}:${TASKS_PATH}`, toTold(unreadable.tasks)),
    ...describeUnreadable(
      `${branch}:${HISTORY_PATH}`,
      unreadable.history.map(() => ({ number: 0, why: '' })),
    ),
  ];
}

interface FetchedTasks {
  readonly reports: readonly FoldReport[];
  /** Something came from a branch that a pull does not bring: only a commit takes it into this one. */
  readonly elsewhere: boolean;
  readonly fetched: boolean;
  readonly reason: string | null;
}

/** Every branch of the remote may carry what others committed. */
async function fetchTasks(
  project: HookProject,
  { by, machine, remote, named, tell }: SyncOptions,
): Promise<FetchedTasks> {
  const repo = toGitRepo(project.paths.root, machine);
  if (!(await hasRemote(repo, remote))) {
    if (named === true) throw noRemote(remote);
    return { ...OFFLINE, reason: `There is no remote ${remote}` };
  }
  const fetched = await fetchRemote({ repo, remote });
  const pulled = await findPulled(repo);
  const joined = await joinBranches(project.store, repo, { remote, pulled, by, tell });
  const reports = joined.map(({ report }) => report);
  tellKeptIdentities(reports, tell);
  if (fetched !== 'fetched')
    refuseFailure(fetched.outcome, fetched.reason, 'What was fetched before is joined in');
  const elsewhere = joined.some(({ ref, report }) => ref !== pulled && hasChanged(report));
  return { reports, elsewhere, fetched: true, reason: null };
}

/** The branch that `git pull` merges into the one that is checked out. */
async function findPulled(repo: GitRepo): Promise<string | undefined> {
  const { stdout, exit } = await askGit(repo, ['rev-parse', '--symbolic-full-name', '@{upstream}']);
  return exit === 0 ? stdout.trim() : undefined;
}

function hasChanged({ created, updated, deleted }: FoldReport): boolean {
  return created + updated + deleted > 0;
}

/** What was not exchanged must not look as if it were. */
function refuseFailure(outcome: ExchangeResult['outcome'], reason = '', done: string): void {
  const code = FAILURES[outcome];
  if (code === undefined) return;
  throw new ForgeError(code, `Nothing was exchanged. ${reason}`, {
    hint: `${done}. Try again: forge sync; without the remote: forge sync --offline`,
    details: { outcome },
  });
}

const FAILURES: Readonly<Partial<Record<ExchangeResult['outcome'], ErrorCode>>> = {
  unreachable: 'server_unreachable',
  denied: 'permission_denied',
  refused: 'permission_denied',
  busy: 'store_busy',
};

function noRemote(remote: string): ForgeError {
  return new ForgeError('not_found', `There is no remote ${remote}`, {
    hint: 'git remote -v',
    details: { remote },
  });
}

type Sum = Pick<SyncedTasks, 'created' | 'updated' | 'deleted' | 'gates'>;

function addUp(a: Sum, b: Sum): Sum {
  return {
    created: a.created + b.created,
    updated: a.updated + b.updated,
    deleted: a.deleted + b.deleted,
    gates: joinGates([...a.gates, ...b.gates]),
  };
}

function sum(reports: readonly FoldReport[]): Sum {
  const total = { created: 0, updated: 0, deleted: 0 };
  for (const { created, updated, deleted } of reports) {
    total.created += created;
    total.updated += updated;
    total.deleted += deleted;
  }
  return { ...total, gates: joinGates(reports.flatMap(({ gates }) => gates ?? [])) };
}

/** A task may have changed with several branches. */
function joinGates(changes: readonly ChangedGates[]): ChangedGates[] {
  const found = new Map<string, Set<string>>();
  for (const { id, what } of changes) found.set(id, new Set([...(found.get(id) ?? []), ...what]));
  return [...found].map(([id, what]) => ({ id, what: [...what] }));
}
