import { findBareFolder, findNamedRepository, type Repository } from '#git/find-repository.ts';
import { ForgeError } from '#kernel/errors.ts';
import { findSharedProjects } from './find-shared-project.ts';
import type { Machine } from './machine.ts';
import { toProjectPaths } from './project-paths.ts';
import { noRepository } from './repository-paths.ts';
import { findTasksPrefix } from './tasks-prefix.ts';

/** What to type where a command found no project: a clone may have come with one on another branch. */
export async function explainNoProject(
  error: ForgeError,
  cwd: string,
  { env }: Pick<Machine, 'env'>,
): Promise<ForgeError> {
  const repository = findNamedRepository(cwd, env);
  if (repository === undefined) {
    if (findBareFolder(cwd) === undefined) return error;
    const { message, hint = '', details } = noRepository(cwd);
    return new ForgeError('not_a_project', message, { hint, details });
  }
  const { data, main } = await findSharedProjects({ ...repository, env });
  const found = data[0] ?? main;
  if (found === undefined) return explainTasksAlone(error, repository);
  const { name, idPrefix } = found.config;
  return new ForgeError(
    'not_a_project',
    `This clone is not ready for its Forge project yet: "${name}" is on the branch ${found.branch}`,
    { hint: 'forge init', details: { branch: found.branch, prefix: idPrefix }, cause: error },
  );
}

/** A commit has tasks and not the config. */
function explainTasksAlone(error: ForgeError, repository: Repository): ForgeError {
  const paths = toProjectPaths(repository);
  const prefix = findTasksPrefix(paths);
  if (prefix === undefined) return error;
  return new ForgeError(
    'not_a_project',
    `This clone is not ready for its Forge project yet: .forge/tasks.jsonl is here (${prefix}-), and no config`,
    { hint: 'forge init', details: { prefix }, cause: error },
  );
}
