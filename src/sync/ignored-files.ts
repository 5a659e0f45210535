import { askGit, type GitRepo } from '#git/ask-git.ts';
import { CONFIG_PATH, HISTORY_PATH, TASKS_PATH } from './task-files.ts';

/** A file of the project that git passes over without a word, and the rule that makes it do so. */
export interface IgnoredFile {
  readonly path: string;
  /** As git names it: `.gitignore:3:*.jsonl`. */
  readonly rule: string;
}

const TRAVELLING = [CONFIG_PATH, TASKS_PATH, HISTORY_PATH];

/** Files of the project that git ignores and does not track: a rule such as `*.jsonl` is not meant for them. */
export async function listIgnoredFiles(
  repo: GitRepo,
  paths: readonly string[] = TRAVELLING,
): Promise<IgnoredFile[]> {
  const { stdout } = await askGit(repo, ['check-ignore', '--verbose', '-z', '--stdin'], {
    input: paths.map((path) => `${path}\0`).join(''),
  });
  const fields = stdout.split('\0');
  const found: IgnoredFile[] = [];
  // Four fields each: the file of the rule, its line, the rule, the path.
  for (let at = 0; at + 3 < fields.length; at += 4) {
    const [source = '', line = '', pattern = '', path = ''] = fields.slice(at, at + 4);
    // A rule that takes another one back is told too.
    if (!pattern.startsWith('!')) found.push({ path, rule: `${source}:${line}:${pattern}` });
  }
  return found;
}

/** Once git tracks a file, no rule counts for it, and `forge commit` commits it all the same. */
export const IGNORED_HINT = 'forge commit';

/** Which files, and by which rules. */
export function describeIgnored(files: readonly IgnoredFile[]): string {
  const paths = files.map(({ path }) => path).join(' and ');
  const rules = [...new Set(files.map(({ rule }) => rule))].join(', ');
  return `${paths} (${rules})`;
}
