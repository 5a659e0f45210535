import { LIMITS } from '#kernel/limits.ts';
import { RecentValues } from '#kernel/recent-values.ts';
import { askGitBytes, type GitRepo } from './ask-git.ts';
import type { GitBytes } from './run-git.ts';

const OBJECT = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;

/** By repository and question. */
const answers = new RecentValues<GitBytes>(LIMITS.git_answers.kept);

/**
 * A question about objects by their names alone: what git says of them never changes, and the gates of an attempt ask the
 * same several times. `objects` are the revisions among the arguments; where one is a branch, git is asked each time. So
 * it is where git failed, because the object may come yet.
 */
export async function askOnce(
  repo: GitRepo,
  objects: readonly string[],
  args: readonly string[],
): Promise<GitBytes> {
  if (!objects.every((name) => OBJECT.test(name))) return askGitBytes(repo, args);
  const key = [repo.common_dir, ...args].join('\0');
  const known = answers.get(key);
  if (known !== undefined) return known;
  const answer = await askGitBytes(repo, args);
  if (answer.exit === 0 && answer.stdout.length <= LIMITS.git_answers.bytes) answers.set(key, answer);
  return answer;
}
