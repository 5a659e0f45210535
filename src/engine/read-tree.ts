import { readCommitTree } from '#git/read-commit.ts';
import type { WorkPlace } from './work.ts';

/** The tree of a commit, by which two commits with the same files are known to be the same. */
export function readTree({ repo }: Pick<WorkPlace, 'repo'>, commit: string): Promise<string> {
  return readCommitTree(repo, commit);
}
