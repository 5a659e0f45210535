import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { type AttemptClaim, findRepository, type Repository } from '#git/find-repository.ts';
import { type CheckoutRecord, isSameFolder, readRecord } from '#git/registered-checkout.ts';
import { ForgeError, isForgeError } from '#kernel/errors.ts';

/**
 * The repository of the project whose attempt this checkout is. Anybody can write into a configuration whose attempt
 * a folder is: only the project that has made exactly this folder counts. Throws not_a_project otherwise, because a
 * graph of its own in an attempt would be lost with it.
 */
export function getProjectOfAttempt(around: Repository, claim: AttemptClaim): Repository {
  return getAttempt(around, claim).project;
}

export interface RegisteredAttempt {
  readonly project: Repository;
  readonly record: CheckoutRecord;
}

export function getAttempt(around: Repository, claim: AttemptClaim): RegisteredAttempt {
  const project = findProjectRepository(claim.project);
  const record = project && findRecordOf(around, project, claim.attempt_id);
  if (project !== undefined && record !== undefined) return { project, record };
  throw new ForgeError(
    'not_a_project',
    `${around.worktree} says that it is an attempt of ${claim.project}, which does not know it`,
    {
      hint: 'If it is a project of its own: git config --remove-section forge',
      details: { path: around.worktree, project: claim.project, attempt: claim.attempt_id },
    },
  );
}

/** An attempt is no project: it cannot vouch for another one. */
function findProjectRepository(folder: string): Repository | undefined {
  try {
    const found = findRepository(folder);
    return found?.attempt === undefined ? found : undefined;
  } catch (error) {
    if (isForgeError(error)) return undefined;
    throw error;
  }
}

function findRecordOf(
  { worktree }: Repository,
  project: Repository,
  attemptId: string,
): CheckoutRecord | undefined {
  const record = readRecord(join(project.common_dir, 'forge', 'control.git'), attemptId);
  if (record === undefined || record.checkout.path !== realpathSync.native(worktree)) return undefined;
  return isSameFolder(record) ? record : undefined;
}
