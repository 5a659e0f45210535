import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { askGitBytes, type GitRepo } from './ask-git.ts';
import { type ControlGit, toAskOptions } from './control-directory.ts';
import { toGitFailure } from './run-git.ts';
import { withAttributes } from './target-attributes.ts';

/** The filter that a path's attributes name, by path; paths without one are left out. Names are `latin1`. */
export type PathFilters = ReadonlyMap<string, string>;

/** By the attributes of a working tree, as they stand there now. */
export function readTreeFilters(
  control: ControlGit,
  workTree: string,
  paths: readonly string[],
): Promise<PathFilters> {
  return checkAttributes(control, [], paths, { work_tree: workTree });
}

/** By the attributes of a commit: what its `.gitattributes` say, whatever a working tree has made of them. */
export function readCommitFilters(
  control: ControlGit,
  commit: string,
  paths: readonly string[],
): Promise<PathFilters> {
  if (paths.length === 0) return Promise.resolve(new Map());
  return withAttributes(control, commit, (workTree) =>
    workTree === undefined
      ? withEmptyFolder((folder) => readTreeFilters(control, folder, paths))
      : readTreeFilters(control, workTree, paths),
  );
}

/** By the attributes in an index, in a repository that need not be the user's. */
export function readIndexFilters(
  repo: GitRepo,
  index: string,
  paths: readonly string[],
): Promise<PathFilters> {
  return checkAttributes(repo, ['--cached'], paths, { index });
}

async function checkAttributes(
  repo: GitRepo,
  how: readonly string[],
  paths: readonly string[],
  { work_tree, index }: { readonly work_tree?: string; readonly index?: string },
): Promise<PathFilters> {
  if (paths.length === 0) return new Map();
  const at = work_tree === undefined ? [] : ['-C', work_tree];
  const args = [...at, 'check-attr', '-z', ...how, '--stdin', 'filter'];
  const input = Buffer.from(`${paths.join('\0')}\0`, 'latin1');
  const result = await askGitBytes(repo, args, toAskOptions({ input }, index, work_tree));
  const { stderr, exit } = result;
  if (exit !== 0) throw toGitFailure(args, { stdout: '', stderr, exit });
  const fields = result.stdout.toString('latin1').split('\0');
  const found = new Map<string, string>();
  for (let at3 = 0; at3 + 2 < fields.length; at3 += 3) {
    const [path = '', , value = ''] = fields.slice(at3, at3 + 3);
    if (!NOT_NAMED.has(value)) found.set(path, Buffer.from(value, 'latin1').toString('utf8'));
  }
  return found;
}

/** What git says where an attribute has no value of its own. */
const NOT_NAMED: ReadonlySet<string> = new Set(['unspecified', 'set', 'unset', '']);

async function withEmptyFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'forge-attributes-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
