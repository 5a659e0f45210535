import { join } from 'node:path';
import { ForgeError } from '#kernel/errors.ts';
import { type Environment, isForgeHome } from './forge-home.ts';
import { isDatabaseLink, toLink } from './link-database.ts';
import { lookAt } from './look-at.ts';
import type { ProjectPaths } from './project-paths.ts';

/** Throws where `forge init` must not go; looks only, so that a refusal has nothing to take back. */
export function checkInitPlace(paths: ProjectPaths, place: { env: Environment; homeDir: string }): void {
  refuseForgeHome(paths, place);
  const { forge_dir: folder } = paths;
  const found = lookAt(folder);
  if (found?.isDirectory() === false) {
    throw inTheWay(folder, found.isSymbolicLink() ? 'a symbolic link' : 'not a folder');
  }
  if (lookAt(paths.store_dir)?.isFile() === true) throw inTheWay(paths.store_dir, 'not a folder');
  if (findConfigFolder(paths) !== undefined) throw alreadyAProject(paths);
  const link = toLink(paths);
  if (lookAt(link) !== undefined && !isDatabaseLink(paths)) {
    throw inTheWay(link, "not a link to this repository's database");
  }
  const ignore = join(paths.root, '.gitignore');
  if (lookAt(ignore)?.isSymbolicLink() === true) {
    throw inTheWay(ignore, 'a symbolic link, which git does not follow');
  }
}

/** A repository of dotfiles may hold the home; it is no project for that. */
export function refuseForgeHome(
  { forge_dir: folder, root }: ProjectPaths,
  { env, homeDir }: { env: Environment; homeDir: string },
): void {
  if (!isForgeHome(folder, env, homeDir)) return;
  throw new ForgeError('invalid_input', `${folder} is the Forge home, so ${root} cannot be a project`, {
    hint: 'Set FORGE_HOME to another folder, or start the project in another repository',
    details: { path: folder },
  });
}

/** The folder whose config makes this a project, if any does. */
export function findConfigFolder(paths: ProjectPaths): string | undefined {
  if (lookAt(paths.config) !== undefined) return paths.forge_dir;
  return lookAt(paths.shared_config) === undefined ? undefined : paths.store_dir;
}

export function alreadyAProject(paths: ProjectPaths): ForgeError {
  const folder = findConfigFolder(paths) ?? paths.forge_dir;
  return new ForgeError('already_exists', `${paths.root} is a Forge project already: ${folder}`, {
    hint: 'forge task create "…"',
    details: { path: folder },
  });
}

function inTheWay(path: string, what: string): ForgeError {
  return new ForgeError('already_exists', `${path} is in the way: it is ${what}`, {
    hint: 'Move it away, then run forge init again',
    details: { path },
  });
}
