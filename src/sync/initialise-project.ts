import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isStoreThere, toStoreFiles } from '#store/store-location.ts';
import { findNamedRepository } from '#git/find-repository.ts';
import { refuseOldGit } from '#git/read-git-version.ts';
import { ForgeError } from '#kernel/errors.ts';
import { holdFileLock } from '#process/hold-file-lock.ts';
import { getProjectOfAttempt } from './attempt-project.ts';
import { alreadyAProject, checkInitPlace, findConfigFolder, refuseForgeHome } from './check-init-place.ts';
import type { SharedProject } from './find-shared-project.ts';
import { findConfirmed } from './confirm-config.ts';
import { listLostTaskFiles, readFolderState, restoreTrackedFiles } from './folder-state.ts';
import { findModeChange, followModeChange } from './follow-mode.ts';
import { bringFilesBack, findProjectToAdopt, SPARSE_NOTE } from './init/adopt-shared.ts';
import { adoptDataBranch, startDataBranch, type DataBranch } from './init/data-branch.ts';
import { adviseOnRemote, connectGit, isConnected } from './init/connect-git.ts';
import { decideConfig, type NewConfig } from './init/decide-config.ts';
import {
  addCloneLines,
  makeProjectFiles,
  makeStorePlace,
  publishConfig,
  takeBack,
  toInitError,
  type OpenStore,
  type Undo,
} from './init/steps.ts';
import { findProject } from './find-project.ts';
import { toProjectId } from './project-id.ts';
import { refreshSharedConfig } from './shared-config.ts';
import { NO_ATTEMPTS } from './held-files.ts';
import { lookAt } from './look-at.ts';
import { toGitRepo, type Machine } from './machine.ts';
import { replaceFile } from './place-file.ts';
import { parseProjectConfig, type InitMode, type ProjectConfig } from './project-config.ts';
import { type ProjectPaths, toProjectPaths } from './project-paths.ts';
import { noRepository } from './repository-paths.ts';
import { findTasksPrefix } from './tasks-prefix.ts';

export interface InitOptions extends Machine {
  readonly cwd: string;
  readonly prefix?: string | undefined;
  readonly name?: string | undefined;
  readonly stealth?: boolean | undefined;
  /** Branch mode: the branch that holds the tasks. */
  readonly branch?: string | undefined;
  /** Of the project; a random UUID where it is left out. */
  readonly newId?: (() => string) | undefined;
  /** Makes the schema in a new database, or finds it in an old one, and closes it again. */
  readonly openStore: OpenStore;
}

export interface InitResult {
  name: string;
  idPrefix: string;
  project_id: string;
  version: number;
  created_at: string;
  /** The project's `.forge`. */
  directory: string;
  database: string;
  mode: InitMode;
  /** True where the project was there and this clone was made ready for it. */
  adopted: boolean;
  /** What the person should know, a sentence each. */
  notes: string[];
}

/**
 * Makes a project of the repository around `cwd`, or throws and leaves everything as it was. The config comes
 * last: nobody sees a project before it is complete, and after a crash half way a second `forge init` goes on.
 * In a clone of a project it makes the clone ready; where there is nothing left to do it throws already_exists.
 */
export async function initialiseProject(options: InitOptions): Promise<InitResult> {
  const repository = findNamedRepository(options.cwd, options.env);
  if (repository === undefined) throw noRepository(options.cwd);
  // A graph of its own would be lost with the attempt.
  if (repository.attempt !== undefined)
    throw alreadyAProject(toProjectPaths(getProjectOfAttempt(repository, repository.attempt)));
  if (options.stealth === true && options.branch !== undefined) {
    throw new ForgeError('invalid_input', 'Either --stealth or --branch: stealth shares nothing', {
      hint: 'forge init --branch forge-data',
    });
  }
  await refuseOldGit(repository.worktree, options.env);
  const paths = toProjectPaths(repository);
  const mode = options.branch !== undefined ? 'branch' : options.stealth === true ? 'stealth' : 'standard';
  const id = options.newId?.() ?? crypto.randomUUID();
  const wishes = { ...options, now: options.clock.now(), id, mode, branch: options.branch } as const;
  const config = decideConfig(wishes, repository);
  try {
    // What a second init would take back when it fails is what the first has just made.
    return await holdFileLock(join(paths.common_dir, 'forge-init.lock'), { what: 'forge init' }, async () => {
      refuseForgeHome(paths, options);
      if (lookAt(paths.config) !== undefined) return adopt(paths, options);
      if (lookAt(paths.shared_config) !== undefined) return bringBack(paths, options);
      if (mode !== 'standard') return makeProject(paths, config, options);
      const { shared, notes } = await findProjectToAdopt(toGitRepo(paths.root, options));
      if (shared === undefined) {
        const found = findTasksPrefix(paths);
        if (found === undefined || (options.prefix ?? found) !== found)
          return makeProject(paths, config, options, notes);
        const without = decideConfig({ ...wishes, prefix: found }, repository);
        const made = await makeProject(paths, without, options, [...notes, NO_CONFIG_NOTE]);
        return { ...made, adopted: true };
      }
      if ((options.prefix ?? shared.config.idPrefix) === shared.config.idPrefix)
        return adoptShared(paths, options, shared);
      return makeProject(paths, config, options, [describeOther(shared)]);
    });
  } catch (error) {
    throw toInitError(error, paths, []);
  }
}

const NO_CONFIG_NOTE =
  'Nobody has committed .forge/config.json, so it was made anew from the ids of the tasks. To share it: forge commit; where another clone has the first one, commit it there instead';

async function makeProject(
  paths: ProjectPaths,
  wished: NewConfig,
  options: InitOptions,
  others: readonly string[] = [],
): Promise<InitResult> {
  checkInitPlace(paths, options);
  const mode = wished.initMode ?? 'standard';
  const data = { paths, machine: options, branch: options.branch ?? '' };
  const config = mode === 'branch' ? await adoptDataBranch(data, wished) : wished;
  const undo: Undo[] = [];
  const undoConfig: Undo[] = [];
  try {
    await makeStorePlace(paths, options.openStore, undo);
    makeProjectFiles(paths, mode, undo);
    publishConfig(paths, `${JSON.stringify(config, null, 2)}\n`, undoConfig);
  } catch (error) {
    const left = takeBack(undoConfig);
    // Another init was faster: what stands here now is part of its project.
    if (findConfigFolder(paths) !== undefined) throw alreadyAProject(paths);
    left.push(...takeBack(undo));
    throw toInitError(error, paths, left);
  }
  const notes = [...others, ...(await finish(data, mode))];
  return toResult(paths, config, { adopted: false, mode, notes });
}

/** What needs git itself. Nothing of it is needed for tasks to be safe. */
async function finish(data: DataBranch, mode: InitMode): Promise<string[]> {
  const { paths, machine } = data;
  if (mode === 'branch') return startDataBranch(data);
  if (mode === 'stealth') return [];
  const { notes } = await connectGit(paths, machine);
  return [...notes, ...(await adviseOnRemote(paths, machine))];
}

function describeOther({ config, branch }: SharedProject): string {
  return `The branch ${branch} holds another project, "${config.name}" (${config.idPrefix}-): to adopt it: forge init`;
}

/** The project is on a branch of the repository, while the working tree shows none. */
async function adoptShared(
  paths: ProjectPaths,
  options: InitOptions,
  { config, text, branch }: SharedProject,
): Promise<InitResult> {
  checkInitPlace(paths, options);
  const undo: Undo[] = [];
  const mode = config.initMode;
  const repo = toGitRepo(paths.root, options);
  const state = mode === 'standard' ? await readFolderState(repo) : 'none';
  try {
    await makeStorePlace(paths, options.openStore, undo);
    if (mode === 'branch') {
      makeProjectFiles(paths, mode, undo);
      publishConfig(paths, text, undo);
    } else replaceFile(paths.shared_config, text);
  } catch (error) {
    throw toInitError(error, paths, takeBack(undo));
  }
  if (mode === 'branch')
    return toResult(paths, config, { adopted: true, mode, notes: [`Its tasks are on the branch ${branch}`] });
  const back = state === 'none' ? [] : await bringFilesBack(paths, repo, { config, text });
  // A sparse checkout and a branch without `.forge` get nothing into the working tree.
  if (lookAt(paths.config) === undefined) addCloneLines(paths);
  else makeProjectFiles(paths, mode, []);
  const older = `Its files are on the branch ${branch}, which this one does not have yet. Next: forge sync`;
  const { notes } = await connectGit(paths, options);
  return toResult(paths, config, {
    adopted: true,
    mode,
    notes: [...(state === 'none' ? [older] : back), ...notes],
  });
}

/** The git directory knows the project; `.forge` was deleted, or the branch has none. */
async function bringBack(paths: ProjectPaths, options: InitOptions): Promise<InitResult> {
  const { config } = findProject(paths.root, options.env, options.homeDir);
  refuseOtherWishes(options, paths, config);
  const text = readFileSync(paths.shared_config);
  const notes = await bringFilesBack(paths, toGitRepo(paths.root, options), { config, text });
  await makeStorePlace(paths, options.openStore, []);
  if (lookAt(paths.config) !== undefined) makeProjectFiles(paths, config.initMode, []);
  else if (config.initMode === 'standard') addCloneLines(paths);
  const connected = config.initMode === 'standard' ? (await connectGit(paths, options)).notes : [];
  return toResult(paths, config, { adopted: true, mode: config.initMode, notes: [...notes, ...connected] });
}

/** The project came with the clone; this machine's part of it is missing. */
async function adopt(paths: ProjectPaths, options: InitOptions): Promise<InitResult> {
  const held = await findConfigToKeep(paths, options);
  const { config } = held ?? findProject(paths.root, options.env, options.homeDir);
  refuseOtherWishes(options, paths, config);
  const change = await findModeChange(toGitRepo(paths.root, options), config);
  if (change !== undefined) {
    await makeStorePlace(paths, options.openStore, []);
    const moved = await followModeChange(paths, options, change);
    const notes = [`Its tasks moved to the branch ${change.branch}. To exchange them: forge sync`];
    return toResult(paths, moved, { adopted: true, mode: moved.initMode, notes });
  }
  const mode = config.initMode;
  const isHere = isStoreThere(paths.store) && lookAt(paths.shared_config) !== undefined;
  const { restored, lost } = await restoreTaskFiles(paths, options, mode);
  if (isHere && restored.length === 0 && (mode !== 'standard' || (await isConnected(paths, options))))
    throw alreadyAProject(paths);
  const undo: Undo[] = [];
  try {
    await makeStorePlace(paths, options.openStore, undo);
    makeProjectFiles(paths, mode, undo, new Set(lost));
    if (held === undefined) refreshSharedConfig(paths);
    else replaceFile(paths.shared_config, held.bytes);
  } catch (error) {
    throw toInitError(error, paths, takeBack(undo));
  }
  const { notes } = mode === 'standard' ? await connectGit(paths, options) : { notes: [] };
  const told = [
    ...(restored.length === 0 ? [] : [`Brought back from git: ${restored.join(', ')}`]),
    ...(lost.length === 0 ? [] : [SPARSE_NOTE]),
  ];
  return toResult(paths, config, { adopted: true, mode, notes: [...told, ...notes] });
}

/** A task file that the last commit has is brought back, unless a sparse checkout leaves it out: then it is `lost`. */
async function restoreTaskFiles(
  paths: ProjectPaths,
  options: InitOptions,
  mode: InitMode,
): Promise<{ readonly restored: readonly string[]; readonly lost: readonly string[] }> {
  const repo = toGitRepo(paths.root, options);
  const lost = mode === 'standard' ? await listLostTaskFiles(repo, paths) : [];
  if (lost.length === 0) return { restored: [], lost };
  const restored = await restoreTrackedFiles(repo);
  return { restored, lost: lost.filter((path) => lookAt(path) === undefined) };
}

/** Of people, where the working tree's config is of an unmerged attempt. */
async function findConfigToKeep(
  paths: ProjectPaths,
  { env }: InitOptions,
): Promise<{ readonly config: ProjectConfig; readonly bytes: Buffer } | undefined> {
  const found = await findConfirmed(paths, NO_ATTEMPTS, { env });
  if (found === undefined || !found.held) return undefined;
  return { config: parseProjectConfig(found.bytes.toString('utf8'), found.path), bytes: found.bytes };
}

/** What is asked for must be what is there: changing it is another command. */
function refuseOtherWishes(
  options: InitOptions,
  paths: ProjectPaths,
  config: { idPrefix: string; initMode: InitMode },
): void {
  const { prefix, stealth, branch } = options;
  if (prefix !== undefined && prefix !== config.idPrefix) throw alreadyAProject(paths);
  const other =
    (stealth === true && config.initMode !== 'stealth') ||
    (branch !== undefined && config.initMode !== 'branch');
  if (!other) return;
  throw new ForgeError('already_exists', `This is a Forge project in ${config.initMode} mode already`, {
    hint: branch === undefined ? 'forge init' : `forge init --upgrade --branch ${branch}`,
    details: { mode: config.initMode },
  });
}

function toResult(
  paths: ProjectPaths,
  config: Pick<ProjectConfig, 'name' | 'idPrefix' | 'projectId' | 'version' | 'created_at'> | NewConfig,
  more: Pick<InitResult, 'adopted' | 'mode' | 'notes'>,
): InitResult {
  const { name, idPrefix, version, created_at } = config;
  return {
    name,
    idPrefix,
    project_id: toProjectId(config),
    version,
    created_at,
    directory: paths.forge_dir,
    database: toStoreFiles(paths.store).database,
    ...more,
  };
}
