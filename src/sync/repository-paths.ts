import { findRepository } from '#git/find-repository.ts';
import { ForgeError } from '#kernel/errors.ts';
import { type ProjectPaths, toProjectPaths } from './project-paths.ts';

/** Where a project of the repository around `cwd` would lie, whether or not there is one. Throws not_a_repository. */
export function getRepositoryPaths(cwd: string): ProjectPaths {
  const paths = findRepositoryPaths(cwd);
  if (paths !== undefined) return paths;
  throw new ForgeError('not_a_repository', 'Not inside a git repository', { details: { cwd } });
}

/** The same; undefined outside of every repository. */
export function findRepositoryPaths(cwd: string): ProjectPaths | undefined {
  const repository = findRepository(cwd);
  return repository === undefined ? undefined : toProjectPaths(repository);
}
