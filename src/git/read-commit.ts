import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import { LIMITS } from '#kernel/limits.ts';
import { askGit, getFromGit, type GitRepo } from './ask-git.ts';
import { readPlainFile } from './read-plain-file.ts';
import { toGitFailure } from './run-git.ts';

/** One with objects elsewhere than in its own folder, as the control directory has them, says where. */
type ObjectRepo = GitRepo & { readonly objects?: string };

/** The tree of a commit, by its full id. */
export async function readCommitTree(repo: ObjectRepo, commit: string): Promise<string> {
  return (
    findLooseCommit(repo, commit)?.tree ??
    getFromGit(repo, ['rev-parse', '--verify', '--end-of-options', `${commit}^{tree}`])
  );
}

/** Whether `of` leads to the commit, by their full ids. */
export async function isAncestor(repo: ObjectRepo, commit: string, of: string): Promise<boolean> {
  if (commit === of || findLooseCommit(repo, of)?.parents.includes(commit) === true) return true;
  const args = ['merge-base', '--is-ancestor', '--end-of-options', commit, of];
  const result = await askGit(repo, args);
  if (result.exit > 1) throw toGitFailure(args, result);
  return result.exit === 0;
}

/**
 * A commit that was made a moment ago is a file of its own, and to read that costs less than to start a git. Undefined
 * for one that is packed or borrowed.
 */
function findLooseCommit(
  { objects, common_dir }: ObjectRepo,
  commit: string,
): { readonly tree: string; readonly parents: readonly string[] } | undefined {
  if (!/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(commit)) return undefined;
  let text: string;
  try {
    const path = join(objects ?? join(common_dir, 'objects'), commit.slice(0, 2), commit.slice(2));
    const bytes = readPlainFile(path);
    if (bytes === undefined) return undefined;
    text = inflateSync(bytes, { maxOutputLength: LIMITS.git_file_bytes }).toString('latin1');
  } catch {
    return undefined;
  }
  const [, tree, parents = ''] =
    /^commit \d+\0tree ([0-9a-f]+)\n((?:parent [0-9a-f]+\n)*)author /.exec(text) ?? [];
  if (tree === undefined) return undefined;
  return { tree, parents: [...parents.matchAll(/[0-9a-f]{40,64}/g)].map(([oid]) => oid) };
}
