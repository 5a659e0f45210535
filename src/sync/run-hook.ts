import { findOperationInProgress } from '#git/operation-in-progress.ts';
import { findCurrentBranch, findDefaultBranch } from '#git/branches.ts';
import { readBlob } from '#git/read-blob.ts';
import { askGit, type GitRepo } from '#git/ask-git.ts';
import { runGit } from '#git/run-git.ts';
import { BRANCH_FOLDER, parseAttemptName } from '#domain/attempt-names.ts';
import { systemActor } from '#domain/actor.ts';
import type { FileLine, FoldRequest, Replication } from '#store/replication.ts';
import { nameFile, noteCommitted, readMergeHeads } from './committed-files.ts';
import { exportFiles, type StoredVersion } from './export-files.ts';
import { toExportSource } from './export-source.ts';
import { undoRemoval } from './undo-removal.ts';
import type { FolderState } from './folder-state.ts';
import { flagStagedSecrets, tellSecrets, type StagedChange } from './flag-secrets.ts';
import { type FindByHand, foldText } from './fold-files.ts';
import { toTextFold, withoutHeld } from './fold-request.ts';
import { findTakenBack } from './find-taken-back.ts';
import {
  findObjects,
  hasOthers,
  listStaged,
  readHeadFiles,
  readIndex,
  readStaged,
  type ProjectIndex,
  type StagedFile,
  toChanges,
} from './staged-task-files.ts';
import { areTaskFilesLarge, noteTaskBlobs } from './loose-task-blobs.ts';
import { type AttemptLister, findHeldAt, isOnTarget } from './held-lines.ts';
import { lookAt } from './look-at.ts';
import { toGitRepo, type Machine } from './machine.ts';
import type { ProjectConfig } from './project-config.ts';
import type { ProjectPaths } from './project-paths.ts';
import { withoutDecided } from './parent-lines.ts';
import { renewCloneAttributes } from './attribute-lines.ts';
import { digestText, readFileLines, splitText } from './read-file-lines.ts';
import { findSeenIn, type FindSeen } from './seen-in-history.ts';
import { CONFIG_PATH, HISTORY_PATH, type TaskFiles, TASKS_PATH, toTaskFiles } from './task-files.ts';

export interface HookProject {
  readonly paths: ProjectPaths;
  readonly config: ProjectConfig;
  readonly store: Replication & AttemptLister;
}

/**
 * Writes the task files and stages them, where this commit is one that should carry them. What it must not do:
 * add to a commit of named files, make the only change of a commit, or write on an attempt's branch.
 */
export async function runPreCommit(project: HookProject, machine: Machine): Promise<string[]> {
  const tasks = await addTasks(project, machine);
  const { told, stored = [], added = [] } = tasks;
  const { paths } = project;
  const place = { paths, repo: toGitRepo(paths.root, machine), machine };
  const staged = areTaskFilesLarge(paths) ? await listStaged(paths, machine) : undefined;
  const { left, told: flagged } = await leaveSecretsOut(place, staged && toChanges(staged, stored));
  noteTaskBlobs(place, staged?.map(({ after }) => after) ?? []);
  await noteNext(project, tasks, { staged, now: machine.clock.now() });
  // What was taken out again is told once, and not as staged.
  const kept = added.filter((file) => !left.includes(file));
  return [...told, ...(kept.length === 0 ? [] : [`${listNames(kept)} updated and staged`]), ...flagged];
}

function listNames(names: readonly string[]): string {
  return [names.slice(0, -1).join(', '), names.at(-1) ?? ''].filter((part) => part !== '').join(' and ');
}

/** The next hook need not look whether the store has all that this commit holds. */
async function noteNext(
  { store, paths }: HookProject,
  { added = [], like }: AddedTasks,
  { staged, now }: { readonly staged: readonly StagedFile[] | undefined; readonly now: number },
): Promise<void> {
  const { tasks, history } = toTaskFiles(paths);
  for (const path of added) {
    const file = path === TASKS_PATH ? tasks : history;
    const told = staged?.find((one) => one.path === path)?.after;
    const oid = told ?? (like === undefined ? undefined : nameFile(file, like));
    if (oid !== undefined) await noteCommitted(store, { file, oid, place: 'NEXT', now });
  }
}

interface AddedTasks {
  readonly told: string[];
  /** The files that were staged. */
  readonly added?: readonly string[];
  /** A name of git's, of the sort that this repository has. */
  readonly like?: string | undefined;
  readonly stored?: readonly (StoredVersion & { readonly path: string })[];
}

async function addTasks(project: HookProject, machine: Machine): Promise<AddedTasks> {
  const { paths, config, store } = project;
  if (config.initMode !== 'standard') return { told: [] };
  const repo = toGitRepo(paths.root, machine);
  // Those of an older version leave a filter on the files.
  renewCloneAttributes(paths);
  const index = await readIndex(paths, machine);
  const isWhole = [CONFIG_PATH, TASKS_PATH, HISTORY_PATH].every((path) => index.oids.has(path));
  const removal = isWhole
    ? []
    : await undoRemoval(paths, machine, isNamedFilesOnly(machine) ? 'tell' : 'undo');
  const reason = isNamedFilesOnly(machine)
    ? 'it is of named files; to commit them: forge commit'
    : await findReason(repo, project);
  if (reason !== undefined) {
    const told = (await hasChanges(store, paths)) ? [`This commit carries no tasks: ${reason}`] : [];
    return { told: [...removal, ...told] };
  }
  const by = { actor: systemActor('hook'), now: machine.clock.now(), clock: () => machine.clock.now() };
  const isMerge = findOperationInProgress(repo.git_dir)?.name === 'merge';
  const staged = await readStaged(paths, machine);
  if (!isMerge && !hasOthers(staged)) {
    const waiting = await hasChanges(store, paths);
    return { told: waiting ? [...removal, ONLY_TASKS] : removal };
  }
  const files = toTaskFiles(paths);
  const source = toExportSource(project, machine);
  // Whoever commits a merge into a target takes what it brings.
  const takesAll = isMerge && (await isOnTarget(store, repo));
  const exported = await exportFiles(store, files, {
    by,
    source: {
      ...source,
      ...(takesAll && { findHeld: () => Promise.resolve(undefined) }),
      ...(!isMerge && { readCommitted: () => readHeadFiles({ paths, machine, repo }, index, staged) }),
    },
    canonical: config.settings.gcOnExport,
    incremental: true,
    git: findObjects(paths, machine, index),
  });
  const stored = [
    { path: TASKS_PATH, ...exported.tasks.stored },
    { path: HISTORY_PATH, ...exported.history.stored },
  ];
  const { told, added } = await stage(paths, machine);
  const unseen = tellUnwatched(files, index);
  const hasTasks = index.oids.has(TASKS_PATH) || added.includes(TASKS_PATH);
  const more =
    index.oids.has(CONFIG_PATH) || removal.length > 0 || !hasTasks
      ? NOTHING_STAGED
      : await stageUnpublished(paths, machine);
  return {
    told: [...removal, ...told, ...unseen, ...more.told],
    added: [...added, ...more.added],
    like: [...index.oids.values()][0],
    stored: stored.filter(isStored),
  };
}

/** Tasks without the config would make a clone that finds no project. */
async function stageUnpublished(paths: ProjectPaths, machine: Machine): Promise<Staged> {
  const { findUnpublished, tellEdited } = await import('./unpublished-files.ts');
  const { files, edited } = await findUnpublished(paths, machine, '');
  const told = tellEdited(edited);
  if (files.length === 0) return { told, added: [] };
  const options = { cwd: paths.root, env: machine.env };
  const { exit } = await runGit(['add', '--', ...files], options);
  if (exit === 0) return { told, added: files };
  const missing = `This commit has tasks and no config, so that clones of it find no project; to commit ${files.join(', ')} too: forge commit`;
  return { told: [...told, missing], added: [] };
}

const ONLY_TASKS = 'Only tasks changed, so nothing was added to this commit; to commit them: forge commit';

function isStored<T extends { readonly path: string }>(
  one: T & Partial<StoredVersion>,
): one is T & StoredVersion {
  return one.after !== undefined;
}

/**
 * A commit does not fail because of tasks, but it takes no key into the history: the files stay in the checkout as they are,
 * and the commit has them as the one before it had. In a merge that would drop what the other side brought, so there
 * it is only told of.
 */
async function leaveSecretsOut(
  { paths, repo, machine }: { paths: ProjectPaths; repo: GitRepo; machine: Machine },
  changes: readonly StagedChange[] | undefined,
): Promise<{ readonly left: readonly string[]; readonly told: string[] }> {
  const isMerge = findOperationInProgress(repo.git_dir)?.name === 'merge';
  const revs = isMerge ? readMergeHeads(repo) : [];
  const flagged = await flagStagedSecrets(repo, { paths, machine, revs, changes });
  if (flagged.length === 0) return { left: [], told: [] };
  const files = [...new Set(flagged.map(({ path }) => path))];
  if (isMerge) return { left: [], told: tellSecrets(flagged, 'it is about to be committed with this merge') };
  const options = { cwd: paths.root, env: machine.env };
  const { exit } = await runGit(['reset', '--quiet', '--', ...files], options);
  // Before the first commit there is nothing to go back to.
  if (exit !== 0) await runGit(['rm', '--cached', '--quiet', '--ignore-unmatch', '--', ...files], options);
  return { left: files, told: tellSecrets(flagged, `${files.join(' and ')} stays out of this commit`) };
}

/** After a merge: what a side brought counts, also where the merge took nothing of it (`-s ours`). */
export async function runPostMerge(project: HookProject, machine: Machine): Promise<string[]> {
  const { paths } = project;
  const repo = toGitRepo(paths.root, machine);
  const parents = await listParents(repo);
  // With one parent it was a fast-forward or a squash: the file says all there is to say. A fast-forward may also lead to a
  // merge that was made elsewhere.
  const changed = parents.length < 2 ? 0 : await foldParents(project, repo, { revs: parents, machine });
  const joined = changed === 0 ? [] : [`${changed} task change${changed === 1 ? '' : 's'} joined in`];
  const isLeftOut = parents.length > 1 && (await hasMoreThanFile(project));
  return isLeftOut ? [...joined, LEFT_OUT_OF_MERGE] : joined;
}

const LEFT_OUT_OF_MERGE =
  'The merge carries no tasks that were changed here since the last commit; they go with the next one, or: forge commit';

/** Whether the store has a line that is not in the task file; for files that a hook may read whole. */
async function hasMoreThanFile({ paths, store, config }: HookProject): Promise<boolean> {
  if (config.initMode !== 'standard') return false;
  const { tasks } = toTaskFiles(paths);
  if (lookAt(tasks) === undefined || !(await hasChanges(store, paths))) return false;
  const known = new Set([...readFileLines(tasks).lines].map(({ text }) => text));
  const isKnown = (line: string | Uint8Array): boolean =>
    known.has((typeof line === 'string' ? line : Buffer.from(line).toString('utf8')).trimEnd());
  for await (const { lines } of store.exportTasks(tasks)) if (!lines.every(isKnown)) return true;
  return false;
}

/** `git commit -- file` and `--only` work on an index of their own; what is staged there would be undone afterwards. */
function isNamedFilesOnly({ env }: Machine): boolean {
  const index = env['GIT_INDEX_FILE'];
  if (index === undefined || index === '') return false;
  return /next-index-\d+\.lock$/.test(index) || !/(^|[/\\])index(\.lock)?$/.test(index);
}

/** Why this commit gets no task files, for the person; undefined where it gets them. */
async function findReason(repo: GitRepo, { paths, config }: HookProject): Promise<string | undefined> {
  if (lookAt(paths.config) === undefined) {
    const { readFolderState } = await import('./folder-state.ts');
    return NO_CONFIG[await readFolderState(repo)];
  }
  const branch = await findCurrentBranch(repo);
  if (branch?.startsWith(BRANCH_FOLDER) === true && parseAttemptName(branch) !== undefined)
    return `${branch} is the branch of an attempt`;
  if (config.sync.exportOn === 'every-branch') return undefined;
  if (config.sync.exportOn === 'default-branch') {
    const main = await findDefaultBranch(repo);
    if (branch !== undefined && branch === main) return undefined;
  }
  return `sync.exportOn is ${config.sync.exportOn}; to commit them here all the same: forge commit`;
}

const NO_CONFIG: Readonly<Record<FolderState, string>> = {
  deleted: '.forge is missing here; to bring it back: forge init',
  sparse: 'this sparse checkout leaves .forge out; to have it: git sparse-checkout add .forge',
  none: 'this branch has no .forge; a branch that has it brings it: git merge',
};

async function hasChanges(store: Replication, paths: ProjectPaths): Promise<boolean> {
  const { tasks } = toTaskFiles(paths);
  const [mark] = await store.readMarks([tasks]);
  return (mark?.event_seq ?? 0) !== (await store.newestEvent());
}

/** One process where nothing is in the way: git tells by itself what it added. */
async function stage(paths: ProjectPaths, machine: Machine): Promise<Staged> {
  const files = [TASKS_PATH, HISTORY_PATH];
  const { exit, stdout } = await runGit(['add', '--verbose', '--', ...files], {
    cwd: paths.root,
    env: machine.env,
  });
  if (exit !== 0) return stageChanged(paths, machine);
  const added = files.filter((file) => stdout.includes(`'${file}'`));
  return { told: [], added };
}

/** `git add` passes over such files without a word. */
function tellUnwatched({ tasks, history }: TaskFiles, { oids, unwatched }: ProjectIndex): string[] {
  return [...unwatched].flatMap(([path, option]) => {
    const file = path === TASKS_PATH ? tasks : path === HISTORY_PATH ? history : undefined;
    const oid = oids.get(path);
    if (file === undefined || oid === undefined || nameFile(file, oid) === oid) return [];
    return [
      `${path} stays out of this commit: git was told not to look at it; to end that: git update-index ${option} ${path}`,
    ];
  });
}

interface Staged {
  readonly told: string[];
  readonly added: readonly string[];
}

const NOTHING_STAGED: Staged = { told: [], added: [] };

/** The same where one of the files is ignored or not there. */
async function stageChanged(paths: ProjectPaths, { env }: Machine): Promise<Staged> {
  const files = [TASKS_PATH, HISTORY_PATH];
  const status = await runGit(['status', '--porcelain', '--no-renames', '-z', '--', ...files], {
    cwd: paths.root,
    env,
  });
  const changed = status.stdout
    .split('\0')
    .filter((entry) => entry !== '' && entry[1] !== ' ')
    .map((entry) => entry.slice(3));
  const ignored = await tellIgnored(paths, { env });
  if (changed.length === 0) return { told: ignored, added: [] };
  const added = await runGit(['add', '--', ...changed], { cwd: paths.root, env });
  if (added.exit === 0) return { told: ignored, added: changed };
  const failed = `Could not stage ${changed.join(' and ')}: ${added.stderr.trim()}`;
  return { told: [...ignored, failed], added: [] };
}

async function tellIgnored({ root }: ProjectPaths, machine: Pick<Machine, 'env'>): Promise<string[]> {
  const { describeIgnored, IGNORED_HINT, listIgnoredFiles } = await import('./ignored-files.ts');
  const files = await listIgnoredFiles(toGitRepo(root, machine), [TASKS_PATH, HISTORY_PATH]);
  if (files.length === 0) return [];
  return [
    `This commit carries no tasks: git ignores ${describeIgnored(files)}; to commit them all the same: ${IGNORED_HINT}`,
  ];
}

async function listParents(repo: GitRepo): Promise<string[]> {
  const { stdout, exit } = await askGit(repo, ['rev-parse', 'HEAD^@']);
  return exit === 0 ? stdout.split('\n').filter((line) => line !== '') : [];
}

async function foldParents(
  { store, paths }: HookProject,
  repo: GitRepo,
  { revs, machine }: { revs: readonly string[]; machine: Machine },
): Promise<number> {
  const now = machine.clock.now();
  const [mark] = await store.readMarks([toTaskFiles(paths).tasks]);
  // What was checked out before the merge was read: its commits make no edit once more.
  const looked = { at: mark?.looked_at ?? 0, is_before_move: true };
  let changed = 0;
  const by = { actor: systemActor('hook'), now };
  const toFold = (path: string, text: string, lines: readonly FileLine[]): FoldRequest =>
    toTextFold(`git:parent:${path}`, lines, { digest: digestText(text), now });
  for (const rev of revs) {
    const held = await findHeldAt(store, repo, rev);
    const leave = (path: string, request: FoldRequest): FoldRequest =>
      withoutHeld(request, { held, path, left: [] });
    const history = (await readBlob(repo, rev, HISTORY_PATH))?.toString('utf8');
    if (history !== undefined) {
      const request = toFold(HISTORY_PATH, history, [...splitText(history)]);
      await store.foldHistory(leave(HISTORY_PATH, request), by);
    }
    const tasks = (await readBlob(repo, rev, TASKS_PATH))?.toString('utf8');
    if (tasks === undefined) continue;
    const lines = await withoutDecided(repo, revs, [...splitText(tasks)]);
    const findSeen: FindSeen = (values) => findSeenIn(values, { repo, rev });
    const request = leave(TASKS_PATH, toFold(TASKS_PATH, tasks, lines));
    const findByHand: FindByHand = (back) => findTakenBack(back, { repo, revs: [rev], looked });
    const report = await foldText(store, request, { ...by, findSeen, findByHand });
    changed += report.created + report.updated + report.deleted;
  }
  return changed;
}
