import { findRepository } from '#git/find-repository.ts';
import { ForgeError } from '#kernel/errors.ts';
import { type ProjectPaths, toProjectPaths } from './project-paths.ts';

/** Where a project of the repository around `cwd` would lie, whether or not there is one. Throws not_a_repository. */
export function getRepositoryPaths(cwd: string): ProjectPaths {
  const repository = findRepository(cwd);
  if (repository !== undefined) return toProjectPaths(repository);
  throw new ForgeError('not_a_repository', 'Not inside a git repository', { details: { cwd } });
}
