import { askGitBytes, type GitRepo } from './ask-git.ts';
import { toGitFailure } from './run-git.ts';

/** A path that a commit changes against one of its parents. */
export interface CommitEntry {
  readonly commit: string;
  /** As `latin1`. */
  readonly path: string;
  readonly before: string;
  readonly mode: string;
  readonly oid: string;
}

/** What each commit changes against each of its parents. */
export async function listEntries(
  source: GitRepo,
  commits: readonly string[],
): Promise<readonly CommitEntry[]> {
  if (commits.length === 0) return [];
  const args = ['diff-tree', '--stdin', '-r', '-m', '--root', '-z', '--raw', '--no-renames', '--no-abbrev'];
  const { stdout, stderr, exit } = await askGitBytes(source, args, { input: `${commits.join('\n')}\n` });
  if (exit !== 0) throw toGitFailure(args, { stdout: '', stderr, exit });
  const fields = stdout.toString('latin1').split('\0');
  const entries: CommitEntry[] = [];
  let commit = '';
  for (let at = 0; at < fields.length; at += 1) {
    const field = fields[at] ?? '';
    if (!field.startsWith(':')) {
      commit = field.slice(0, commits[0]?.length);
      continue;
    }
    at += 1;
    const [before = '', mode = '', , oid = ''] = field.slice(1).split(' ');
    entries.push({ commit, path: fields[at] ?? '', before, mode, oid });
  }
  return entries;
}
