import { findRepository } from '#git/find-repository.ts';
import type { GitRepo } from '#git/ask-git.ts';
import type { Clock } from '#kernel/clock.ts';
import { ForgeError } from '#kernel/errors.ts';
import type { Environment } from './forge-home.ts';
import type { ForgeProgram } from './forge-program.ts';

/** What functions of this room need to know of the machine they run on. */
export interface Machine {
  readonly env: Environment;
  readonly homeDir: string;
  /** This very program, as git can start it again. */
  readonly program: ForgeProgram;
  readonly clock: Clock;
}

/** The repository around a folder, for calls of git. */
export function toGitRepo(folder: string, { env }: Pick<Machine, 'env'>): GitRepo {
  const repository = findRepository(folder);
  if (repository === undefined) {
    throw new ForgeError('not_a_repository', `Not inside a git repository: ${folder}`, { hint: 'git init' });
  }
  return { ...repository, env };
}
