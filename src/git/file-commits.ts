import { askGit, type GitRepo } from './ask-git.ts';

/** A commit that changed one of the files that were asked for. */
export interface FileCommit {
  readonly commit: string;
  readonly parents: readonly string[];
  /** Whose work it says it is: by Forge's trailer, which no agent writes itself. */
  readonly attempts: readonly string[];
}

export interface FileCommitQuery {
  readonly tips: readonly string[];
  /** Patterns of refs besides. */
  readonly globs: readonly string[];
  /** What these lead to is left out. */
  readonly without: readonly string[];
  readonly without_globs: readonly string[];
  readonly paths: readonly string[];
  /** All of them where it is left out. */
  readonly limit?: number;
  /** True: only those that name an attempt in a trailer. */
  readonly of_attempts?: boolean;
}

/**
 * The commits from the tips that changed one of the files, each before those that build on it; at most `limit`, the
 * newest ones. Of a list without a limit the parents are the next of the list (commits between them left the files as
 * they are), and merges are among it in any case. None where git cannot tell, as in a repository without commits.
 */
export async function listFileCommits(repo: GitRepo, query: FileCommitQuery): Promise<FileCommit[]> {
  const { tips, globs, without, without_globs, paths, limit, of_attempts } = query;
  const trailer = '%(trailers:key=Forge-Attempt,valueonly,unfold,separator=%x20)';
  const { stdout } = await askGit(repo, [
    'log',
    '--full-history',
    '--topo-order',
    '--reverse',
    ...(limit === undefined ? ['--parents'] : [`--max-count=${limit}`]),
    // Read again below: a line that looks like a trailer may be none.
    ...(of_attempts === true ? ['-i', '-E', '--grep=^forge-attempt[[:space:]]*:'] : []),
    `--format=%H%x09%P%x09${trailer}`,
    ...tips,
    ...globs.map((glob) => `--glob=${glob}`),
    '--not',
    ...without,
    ...without_globs.map((glob) => `--glob=${glob}`),
    '--',
    ...paths.map((path) => `:(top,literal)${path}`),
  ]);
  return stdout.split('\n').flatMap((line) => {
    const [commit = '', parents = '', attempts = ''] = line.split('\t');
    return commit === '' ? [] : [{ commit, parents: toWords(parents), attempts: toWords(attempts) }];
  });
}

function toWords(text: string): string[] {
  return text.split(' ').filter((word) => word !== '');
}
