import { constants, mkdirSync, readFileSync } from 'node:fs';
import { findRepository } from '#git/find-repository.ts';
import { ForgeError } from '#kernel/errors.ts';
import { getProjectOfAttempt } from './attempt-project.ts';
import { toFileError } from './file-error.ts';
import { type Environment, isForgeHome } from './forge-home.ts';
import { replaceFile } from './place-file.ts';
import { parseProjectConfig, type ProjectConfig } from './project-config.ts';
import { type ProjectPaths, toProjectPaths } from './project-paths.ts';

export interface FoundProject {
  readonly paths: ProjectPaths;
  readonly config: ProjectConfig;
}

/**
 * The project around `cwd`. Called once by every command, writes nothing and starts no process. The worktree's
 * config wins; the shared copy serves branches older than `forge init` and worktrees without `.forge`. Inside an
 * attempt it is the project of the attempt. Throws not_a_project where there is neither, and invalid_input or
 * schema_newer for a config that cannot be used.
 */
export function findProject(cwd: string, env: Environment, homeDir: string): FoundProject {
  const around = findRepository(cwd);
  if (around === undefined) throw notAProject();
  const repository = around.attempt === undefined ? around : getProjectOfAttempt(around, around.attempt);
  const paths = toProjectPaths(repository);
  const own = readBytes(paths.config);
  const bytes = own ?? readBytes(paths.shared_config);
  if (bytes === undefined || isForgeHome(paths.forge_dir, env, homeDir)) throw notAProject();
  const path = own === undefined ? paths.shared_config : paths.config;
  return { paths, config: parseProjectConfig(bytes.toString('utf8'), path) };
}

/** Keeps the shared copy up to date. For commands that write; idempotent, and quiet without a config here. */
export function refreshSharedConfig(paths: ProjectPaths): void {
  const bytes = readBytes(paths.config);
  if (bytes === undefined || readBytes(paths.shared_config)?.equals(bytes) === true) return;
  try {
    mkdirSync(paths.store_dir, { recursive: true });
    replaceFile(paths.shared_config, bytes);
  } catch (error) {
    throw toFileError(error, `Could not copy ${paths.config} to ${paths.shared_config}`);
  }
}

function notAProject(): ForgeError {
  return new ForgeError('not_a_project', "Not a Forge project. Run 'forge init' first.");
}

function readBytes(path: string): Buffer | undefined {
  try {
    // A pipe in its place is not waited for: it is an empty file then.
    return readFileSync(path, { flag: constants.O_RDONLY | constants.O_NONBLOCK });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException; // what fs throws
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw toFileError(error, `Could not read ${path}`);
  }
}
