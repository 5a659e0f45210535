import { basename, dirname, isAbsolute, relative, resolve } from 'node:path';
import { gitEnvironment } from '#git/git-environment.ts';
import { runGit, toGitFailure } from '#git/run-git.ts';
import { type Environment, toRealPlace } from '../forge-home.ts';
import { lookAt } from '../look-at.ts';
import type { ProjectPaths } from '../project-paths.ts';

/** A folder with hooks in it, and whose it is. */
export interface HookFolder {
  /** As git names it; it need not exist. */
  readonly path: string;
  readonly place: 'git_folder' | 'worktree' | 'outside';
  /** Names of the files in it that some repository has under version control. */
  readonly tracked: ReadonlySet<string>;
}

/** Where git looks for hooks in this working tree, as git itself says: `core.hooksPath` may be set anywhere. */
export async function findHookFolder(paths: ProjectPaths, env: Environment): Promise<HookFolder> {
  // A file, not the folder: for an empty core.hooksPath git gives another answer to that.
  const args = ['rev-parse', '--git-path', 'hooks/pre-commit'];
  const result = await runGit(args, { cwd: paths.root, env: gitEnvironment(env) });
  if (result.exit !== 0) throw toGitFailure(args, result);
  return describeFolder(dirname(resolve(paths.root, result.stdout.replace(/\r?\n$/, ''))), paths, env);
}

/** Judged by where it really is: the folder, or one above it, may be a link. */
export async function describeFolder(
  path: string,
  paths: ProjectPaths,
  env: Environment,
): Promise<HookFolder> {
  const real = toRealPlace(path);
  const place = findPlace(real, paths);
  // What lies in .git is under nobody's version control.
  const tracked = place === 'git_folder' ? [] : await listTracked(real, env);
  return { path, place, tracked: new Set(tracked) };
}

function findPlace(real: string, { root, common_dir }: ProjectPaths): HookFolder['place'] {
  const common = toRealPlace(common_dir);
  if (isInside(real, common)) return 'git_folder';
  // The main working tree belongs to the repository as well, seen from a linked one.
  const trees = [toRealPlace(root), ...(basename(common) === '.git' ? [dirname(common)] : [])];
  return trees.some((tree) => isInside(real, tree)) ? 'worktree' : 'outside';
}

function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !/^\.\.[/\\]/.test(way) && !isAbsolute(way);
}

/** By whatever repository is around the folder: a submodule, or the one that holds somebody's dotfiles. */
async function listTracked(folder: string, env: Environment): Promise<string[]> {
  if (lookAt(folder)?.isDirectory() !== true) return [];
  // A monitor that the repository's settings name is a program: nothing here has to run it.
  const args = ['-c', 'core.fsmonitor=false', 'ls-files', '-z'];
  const { stdout, exit } = await runGit(args, { cwd: folder, env: gitEnvironment(env) });
  return exit === 0 ? stdout.split('\0').filter((name) => name !== '' && !name.includes('/')) : [];
}
