import { getFromGit } from '#git/ask-git.ts';
import type { WorkPlace } from './work.ts';

/** The tree of a commit, by which two commits with the same files are known to be the same. */
export function readTree({ repo }: Pick<WorkPlace, 'repo'>, commit: string): Promise<string> {
  return getFromGit(repo, ['rev-parse', '--verify', '--end-of-options', `${commit}^{tree}`]);
}
