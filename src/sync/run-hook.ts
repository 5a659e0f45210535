import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findOperationInProgress } from '#git/operation-in-progress.ts';
import { findCurrentBranch, findDefaultBranch } from '#git/branches.ts';
import { readBlob } from '#git/read-blob.ts';
import { askGit, type GitRepo } from '#git/ask-git.ts';
import { runGit } from '#git/run-git.ts';
import { systemActor } from '#domain/actor.ts';
import type { FoldRequest, SyncStore } from '#store/sync-store.ts';
import { exportFiles } from './export-files.ts';
import { flagStagedSecrets, tellSecrets } from './flag-secrets.ts';
import { toTextFold } from './fold-files.ts';
import { lookAt } from './look-at.ts';
import { toGitRepo, type Machine } from './machine.ts';
import type { ProjectConfig } from './project-config.ts';
import type { ProjectPaths } from './project-paths.ts';
import { digestText, splitText } from './read-file-lines.ts';
import { HISTORY_PATH, TASKS_PATH, toTaskFiles } from './task-files.ts';

export interface HookProject {
  readonly paths: ProjectPaths;
  readonly config: ProjectConfig;
  readonly store: SyncStore;
}

/**
 * Writes the task files and stages them, where this commit is one that should carry them. What it must not do:
 * add to a commit of named files, make the only change of a commit, or write on an attempt's branch.
 */
export async function runPreCommit(project: HookProject, machine: Machine): Promise<string[]> {
  const told = await addTasks(project, machine);
  return [...told, ...(await leaveSecretsOut(project.paths, machine))];
}

async function addTasks(project: HookProject, machine: Machine): Promise<string[]> {
  const { paths, config, store } = project;
  if (config.initMode !== 'standard' || config.sync.exportOn === 'manual') return [];
  const repo = toGitRepo(paths.root, machine);
  if (isNamedFilesOnly(machine)) return [];
  // A branch from before `forge init` gets no task files; the store keeps what is done there.
  if (lookAt(paths.config) === undefined) return [];
  if (!(await isExportBranch(repo, config))) return [];
  const by = { actor: systemActor('hook'), now: machine.clock.now(), clock: () => machine.clock.now() };
  if (findOperationInProgress(repo.git_dir)?.name === 'merge')
    await foldParents(store, repo, { revs: readMergeHeads(repo), machine });
  else if (!(await isAnythingElseStaged(paths, machine))) {
    const waiting = await hasChanges(store, paths);
    return waiting
      ? ['Only tasks changed, so nothing was added to this commit; to commit them: forge commit']
      : [];
  }
  await exportFiles(store, toTaskFiles(paths), {
    by,
    canonical: config.settings.gcOnExport,
    incremental: true,
  });
  return stage(paths, machine);
}

/**
 * A commit does not fail because of tasks, but it takes no key into the history: the files stay in the checkout as they are,
 * and the commit has them as the one before it had. In a merge that would drop what the other side brought, so there
 * it is only told of.
 */
async function leaveSecretsOut(paths: ProjectPaths, machine: Machine): Promise<string[]> {
  const repo = toGitRepo(paths.root, machine);
  const isMerge = findOperationInProgress(repo.git_dir)?.name === 'merge';
  const revs = isMerge ? readMergeHeads(repo) : [];
  const flagged = await flagStagedSecrets(repo, { paths, machine, revs });
  if (flagged.length === 0) return [];
  const files = [...new Set(flagged.map(({ path }) => path))];
  if (isMerge) return tellSecrets(flagged, 'it is about to be committed with this merge');
  const options = { cwd: paths.root, env: machine.env };
  const { exit } = await runGit(['reset', '--quiet', '--', ...files], options);
  // Before the first commit there is nothing to go back to.
  if (exit !== 0) await runGit(['rm', '--cached', '--quiet', '--ignore-unmatch', '--', ...files], options);
  return tellSecrets(flagged, `${files.join(' and ')} stays out of this commit`);
}

/** After a merge: what a side brought counts, also where the merge took nothing of it (`-s ours`). */
export async function runPostMerge(project: HookProject, machine: Machine): Promise<string[]> {
  const { paths, store } = project;
  const repo = toGitRepo(paths.root, machine);
  const parents = await listParents(repo);
  // With one parent the merge was a fast-forward or a squash: the file says all there is to say.
  const changed = parents.length < 2 ? 0 : await foldParents(store, repo, { revs: parents, machine });
  return changed === 0 ? [] : [`${changed} task change${changed === 1 ? '' : 's'} joined in`];
}

/** `git commit -- file` and `--only` work on an index of their own; what is staged there would be undone afterwards. */
function isNamedFilesOnly({ env }: Machine): boolean {
  const index = env['GIT_INDEX_FILE'];
  if (index === undefined || index === '') return false;
  return /next-index-\d+\.lock$/.test(index) || !/(^|[/\\])index(\.lock)?$/.test(index);
}

async function isExportBranch(repo: GitRepo, config: ProjectConfig): Promise<boolean> {
  const branch = await findCurrentBranch(repo);
  if (branch?.startsWith('forge/') === true) return false;
  if (config.sync.exportOn === 'every-branch') return true;
  return branch !== undefined && branch === (await findDefaultBranch(repo));
}

/** Asked of the index that git commits from, so the hook's own environment is passed on. */
async function isAnythingElseStaged(paths: ProjectPaths, { env }: Machine): Promise<boolean> {
  const others = [`:(exclude,top)${TASKS_PATH}`, `:(exclude,top)${HISTORY_PATH}`];
  const args = ['diff', '--cached', '--quiet', '--ignore-submodules=none', '--', ':(top)', ...others];
  const { exit } = await runGit(args, { cwd: paths.root, env });
  return exit === 1;
}

async function hasChanges(store: SyncStore, paths: ProjectPaths): Promise<boolean> {
  const { tasks } = toTaskFiles(paths);
  const [mark] = await store.readMarks([tasks]);
  return mark === undefined || mark.event_seq !== (await store.newestEvent());
}

/** One process where nothing is in the way: git tells by itself what it added. */
async function stage(paths: ProjectPaths, machine: Machine): Promise<string[]> {
  const files = [TASKS_PATH, HISTORY_PATH];
  const { exit, stdout } = await runGit(['add', '--verbose', '--', ...files], {
    cwd: paths.root,
    env: machine.env,
  });
  if (exit !== 0) return stageChanged(paths, machine);
  const added = files.filter((file) => stdout.includes(`'${file}'`));
  return added.length === 0 ? [] : [`${added.join(' and ')} updated and staged`];
}

/** The same where one of the files is ignored or not there. */
async function stageChanged(paths: ProjectPaths, { env }: Machine): Promise<string[]> {
  const files = [TASKS_PATH, HISTORY_PATH];
  const status = await runGit(['status', '--porcelain', '--no-renames', '-z', '--', ...files], {
    cwd: paths.root,
    env,
  });
  const changed = status.stdout
    .split('\0')
    .filter((entry) => entry !== '' && entry[1] !== ' ')
    .map((entry) => entry.slice(3));
  if (changed.length === 0) return [];
  const added = await runGit(['add', '--', ...changed], { cwd: paths.root, env });
  if (added.exit !== 0) return [`Could not stage ${changed.join(' and ')}: ${added.stderr.trim()}`];
  return [`${changed.join(' and ')} updated and staged`];
}

/** Several in an octopus merge. */
function readMergeHeads({ git_dir }: GitRepo): string[] {
  return readFileSync(join(git_dir, 'MERGE_HEAD'), 'utf8')
    .split('\n')
    .filter((line) => line !== '');
}

async function listParents(repo: GitRepo): Promise<string[]> {
  const { stdout, exit } = await askGit(repo, ['rev-parse', 'HEAD^@']);
  return exit === 0 ? stdout.split('\n').filter((line) => line !== '') : [];
}

async function foldParents(
  store: SyncStore,
  repo: GitRepo,
  { revs, machine }: { revs: readonly string[]; machine: Machine },
): Promise<number> {
  const now = machine.clock.now();
  let changed = 0;
  const by = { actor: systemActor('hook'), now };
  const toFold = (path: string, bytes: Buffer): FoldRequest => {
    const text = bytes.toString('utf8');
    return toTextFold(`git:parent:${path}`, [...splitText(text)], { digest: digestText(text), now });
  };
  for (const rev of revs) {
    const history = await readBlob(repo, rev, HISTORY_PATH);
    if (history !== undefined) await store.foldHistory(toFold(HISTORY_PATH, history), by);
    const tasks = await readBlob(repo, rev, TASKS_PATH);
    if (tasks === undefined) continue;
    const report = await store.foldTasks(toFold(TASKS_PATH, tasks), by);
    changed += report.created + report.updated + report.deleted;
  }
  return changed;
}
