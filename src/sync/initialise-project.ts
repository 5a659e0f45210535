import { mkdirSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { findRepository, type Repository } from '#git/find-repository.ts';
import { toIso } from '#kernel/clock.ts';
import { ForgeError } from '#kernel/errors.ts';
import { isIdPrefix } from '#kernel/ids.ts';
import { LIMITS } from '#kernel/limits.ts';
import { alreadyAProject, checkInitPlace, findConfigFolder } from './check-init-place.ts';
import { toFileError } from './file-error.ts';
import type { Environment } from './forge-home.ts';
import { holdFileLock } from './hold-file-lock.ts';
import { addIgnoreLines } from './ignore-lines.ts';
import { linkDatabase } from './link-database.ts';
import { lookAt } from './look-at.ts';
import { stageFile } from './place-file.ts';
import { CONFIG_VERSION, isProjectName, NAME_RULE, PREFIX_RULE } from './project-config.ts';
import { type ProjectPaths, toProjectPaths } from './project-paths.ts';

export interface InitOptions {
  readonly cwd: string;
  readonly env: Environment;
  readonly homeDir: string;
  readonly prefix?: string | undefined;
  readonly name?: string | undefined;
  /** Wall clock in ms. */
  readonly now: number;
  /** Makes the schema in a new database, or finds it in an old one, and closes it again. */
  readonly openStore: (databasePath: string) => Promise<void>;
}

export interface InitResult {
  name: string;
  idPrefix: string;
  version: number;
  created_at: string;
  /** The project's `.forge`. */
  directory: string;
  database: string;
}

type Undo = () => void;

/**
 * Makes a project of the repository around `cwd`, or throws and leaves everything as it was. The config comes
 * last: nobody sees a project before it is complete, and after a crash half way a second `forge init` goes on.
 */
export async function initialiseProject(options: InitOptions): Promise<InitResult> {
  const repository = findRepository(options.cwd);
  if (repository === undefined) {
    throw new ForgeError('not_a_repository', 'Not inside a git repository. Forge keeps its tasks in one.', {
      hint: 'git init',
      details: { cwd: options.cwd },
    });
  }
  const paths = toProjectPaths(repository);
  const config = decideConfig(options, repository);
  try {
    // What a second init would take back when it fails is what the first has just made.
    return await holdFileLock(join(paths.common_dir, 'forge-init.lock'), 'forge init', () =>
      makeProject(paths, config, options),
    );
  } catch (error) {
    throw toInitError(error, paths, []);
  }
}

type NewConfig = ReturnType<typeof decideConfig>;

async function makeProject(
  paths: ProjectPaths,
  config: NewConfig,
  options: InitOptions,
): Promise<InitResult> {
  checkInitPlace(paths, options);
  const undo: Undo[] = [];
  const undoConfig: Undo[] = [];
  try {
    makeFolder(paths.forge_dir, undo);
    makeFolder(paths.store_dir, undo);
    await makeStore(paths, options.openStore, undo);
    linkDatabase(paths, undo);
    addIgnoreLines(join(paths.root, '.gitignore'), undo);
    excludeDatabase(paths, undo);
    publishConfig(paths, `${JSON.stringify(config, null, 2)}\n`, undoConfig);
  } catch (error) {
    const left = takeBack(undoConfig);
    // Another init was faster: what stands here now is part of its project.
    if (findConfigFolder(paths) !== undefined) throw alreadyAProject(paths);
    left.push(...takeBack(undo));
    throw toInitError(error, paths, left);
  }
  return { ...config, directory: paths.forge_dir, database: paths.database };
}

function decideConfig({ prefix = 'fg', name, now }: InitOptions, repository: Repository) {
  if (!isIdPrefix(prefix)) throw badInput('prefix', prefix, PREFIX_RULE, 'forge init --prefix fg');
  if (name !== undefined && !isProjectName(name)) {
    throw badInput('name', name, NAME_RULE, 'forge init --name "My project"');
  }
  // The order of the keys is the order in the file.
  return {
    name: name ?? toDefaultName(repository),
    idPrefix: prefix,
    version: CONFIG_VERSION,
    created_at: toIso(now),
  };
}

/** The main worktree's folder, for a linked worktree is named after a branch. */
function toDefaultName({ worktree, git_dir, common_dir }: Repository): string {
  const shared = basename(common_dir);
  const hidden = shared.startsWith('.'); // `.git`, or `.bare` inside the project's folder
  const linked = hidden ? basename(dirname(common_dir)) : shared.replace(/\.git$/, '');
  const folder = git_dir === common_dir ? basename(worktree) : linked;
  // A folder's name may hold what a project's may not.
  const name = folder.replaceAll(/[\u0000-\u001f\u007f]/g, ' ').slice(0, LIMITS.project_name_length);
  return isProjectName(name) ? name : 'project';
}

function makeFolder(path: string, undo: Undo[]): void {
  if (lookAt(path) !== undefined) return; // a file in its place shows in the next step
  mkdirSync(path);
  undo.push(() => {
    // Gone, or with something in it that is not ours: not ours to remove.
    if (lookAt(path) !== undefined && readdirSync(path).length === 0) rmdirSync(path);
  });
}

async function makeStore(
  paths: ProjectPaths,
  openStore: InitOptions['openStore'],
  undo: Undo[],
): Promise<void> {
  const before = new Set(readdirSync(paths.store_dir));
  undo.push(() => {
    const made = readdirSync(paths.store_dir).filter((name) => !before.has(name));
    for (const name of made) rmSync(join(paths.store_dir, name), { recursive: true, force: true });
  });
  await openStore(paths.database);
}

/** For branches whose `.gitignore` has no such lines. A linked exclude file is not this repository's alone. */
function excludeDatabase(paths: ProjectPaths, undo: Undo[]): void {
  const folder = join(paths.common_dir, 'info');
  const file = join(folder, 'exclude');
  if (lookAt(file)?.isSymbolicLink() === true) return;
  makeFolder(folder, undo);
  addIgnoreLines(file, undo);
}

/** Both are written in full before either is in its place; the shared one decides between two at once. */
function publishConfig(paths: ProjectPaths, text: string, undo: Undo[]): void {
  const shared = stageFile(paths.shared_config, text);
  undo.push(() => shared.discard());
  const own = stageFile(paths.config, text);
  undo.push(() => own.discard());
  shared.publish();
  undo.push(() => rmSync(paths.shared_config));
  own.publish();
}

/** Last done, first undone. What could not be undone comes back as sentences. */
function takeBack(undo: readonly Undo[]): string[] {
  return undo.toReversed().flatMap((step) => {
    try {
      step();
      return [];
    } catch (error) {
      return [(error as Error).message];
    }
  });
}

function toInitError(error: unknown, paths: ProjectPaths, left: readonly string[]): ForgeError {
  const why = toFileError(error, `Could not make ${paths.root} a Forge project`);
  if (left.length === 0) return why;
  return new ForgeError(why.code, `${why.message}; not everything could be undone: ${left.join('; ')}`, {
    ...(why.hint !== undefined && { hint: why.hint }),
    details: { ...why.details, left },
    cause: error,
  });
}

function badInput(key: string, value: string, allowed: string, hint: string): ForgeError {
  return new ForgeError(
    'invalid_input',
    `The ${key} ${JSON.stringify(value)} cannot be used; allowed is ${allowed}`,
    {
      hint,
      details: { key, value, allowed },
    },
  );
}
