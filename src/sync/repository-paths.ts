import { findBareFolder, findNamedRepository } from '#git/find-repository.ts';
import { ForgeError } from '#kernel/errors.ts';
import type { Environment } from './forge-home.ts';
import { type ProjectPaths, toProjectPaths } from './project-paths.ts';

/** Where a project of the repository around `cwd` would lie, whether or not there is one. Throws not_a_repository. */
export function getRepositoryPaths(cwd: string, env: Environment = {}): ProjectPaths {
  const paths = findRepositoryPaths(cwd, env);
  if (paths !== undefined) return paths;
  throw noRepository(cwd);
}

/** What to say where there is no working tree to work in. */
export function noRepository(cwd: string): ForgeError {
  const bare = findBareFolder(cwd);
  if (bare === undefined) {
    return new ForgeError('not_a_repository', 'Not inside a git repository. Forge keeps its tasks in one.', {
      hint: 'git init',
      details: { cwd },
    });
  }
  const message = `${bare} is a bare repository or a git directory, which has no working tree for .forge`;
  return new ForgeError('not_a_repository', message, {
    hint: 'Run the command in a clone or a working tree of it: git worktree add ../main',
    details: { cwd, git_dir: bare },
  });
}

/** The same; undefined outside of every repository. */
export function findRepositoryPaths(cwd: string, env: Environment = {}): ProjectPaths | undefined {
  const repository = findNamedRepository(cwd, env);
  return repository === undefined ? undefined : toProjectPaths(repository);
}
