import { findNamedRepository } from '#git/find-repository.ts';
import { ForgeError } from '#kernel/errors.ts';
import { getProjectOfAttempt } from './attempt-project.ts';
import { type Environment, isForgeHome } from './forge-home.ts';
import { parseProjectConfig, type ProjectConfig } from './project-config.ts';
import { type ProjectPaths, toProjectPaths } from './project-paths.ts';
import { readStandingConfig } from './shared-config.ts';

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
  const around = findNamedRepository(cwd, env);
  if (around === undefined) throw notAProject();
  const repository = around.attempt === undefined ? around : getProjectOfAttempt(around, around.attempt);
  const paths = toProjectPaths(repository);
  const found = readStandingConfig(paths);
  if (found === undefined || isForgeHome(paths.forge_dir, env, homeDir)) throw notAProject();
  return { paths, config: parseProjectConfig(found.bytes.toString('utf8'), found.path) };
}

function notAProject(): ForgeError {
  return new ForgeError('not_a_project', "Not a Forge project. Run 'forge init' first.");
}
