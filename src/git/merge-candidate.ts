import { askGit, getFromGit } from './ask-git.ts';
import type { ControlGit } from './control-directory.ts';
import { refuseUnfiltered } from './judge-filters.ts';
import { type ConflictedFile, mergeCommits } from './merge-commits.ts';
import { isAncestor, readCommitTree } from './read-commit.ts';
import { createSigner, type Signer } from './sign-commits.ts';
import { withAttributes } from './target-attributes.ts';
import { type Author, writeCommit, writeEmptyTree } from './write-commit.ts';

export interface CandidateRequest {
  /** Full ids of the commits: where the target branch is, what to merge, and where that began. */
  readonly target: string;
  readonly head: string;
  readonly base: string;
  readonly strategy: 'merge' | 'squash' | 'rebase';
  /** Of the new commit; a rebase keeps those of the commits. */
  readonly message: string;
  /** With a date, the same request gives the same commit. */
  readonly author?: Author;
  /** As the user's own git signs. */
  readonly sign?: boolean;
}

export type Candidate =
  | {
      readonly kind: 'ready';
      readonly commit: string;
      readonly tree: string;
      /** Set where its commits should be signed and are not. */
      readonly unsigned?: string;
    }
  | { readonly kind: 'conflict'; readonly files: readonly ConflictedFile[] }
  /** The target has all of it. */
  | { readonly kind: 'empty' };

/**
 * What the target would be with the attempt merged, as a commit that stands on it: the one to test, and the one to
 * land. No ref and no working tree changes. Throws state_invalid for files that are not what their filter gives.
 */
export async function makeCandidate(control: ControlGit, request: CandidateRequest): Promise<Candidate> {
  const { target, head, strategy } = request;
  // A merge shows the same by its tree.
  if (strategy === 'rebase' && (await isAncestor(control, head, target))) return { kind: 'empty' };
  const signer = createSigner(control, { sign: request.sign === true });
  const work: Work = { ...request, signer };
  const candidate = await withAttributes(control, target, (workTree) =>
    strategy === 'rebase' ? rebase(control, work, workTree) : merge(control, work, workTree),
  );
  if (candidate.kind !== 'ready') return candidate;
  await refuseUnfiltered(control, { target, commit: candidate.commit });
  return { ...candidate, ...(signer.unsigned !== undefined && { unsigned: signer.unsigned }) };
}

interface Work extends CandidateRequest {
  readonly signer: Signer;
}

async function merge(control: ControlGit, request: Work, workTree: string | undefined): Promise<Candidate> {
  const { target, head, base, strategy, message, author, signer } = request;
  // What the attempt began with was taken out of the target since: an amend, a reset. It must not come back with it.
  const isTakenBack =
    !(await isAncestor(control, base, target)) &&
    (await askGit(control, ['merge-base', base, target])).exit === 0;
  const ours = isTakenBack
    ? await writeStandIn(control, await readCommitTree(control, target), [base])
    : target;
  const merged = await mergeCommits(control, { ours, theirs: head }, workTree);
  if (merged.kind === 'conflict') return { kind: 'conflict', files: merged.files };
  const { tree } = merged;
  if (tree === (await readCommitTree(control, target))) return { kind: 'empty' };
  const parents = strategy === 'merge' && !isTakenBack ? [target, head] : [target];
  const commit = await signer.write({ tree, parents, message, ...(author && { author }) });
  return { kind: 'ready', commit, tree };
}

/** Each commit of the attempt on top of the last; merges are left out, as `git rebase` does, and what is there too. */
async function rebase(control: ControlGit, request: Work, workTree: string | undefined): Promise<Candidate> {
  const { target, head, base } = request;
  const range = ['rev-list', '--topo-order', '--reverse', '--parents', head, `^${target}`, `^${base}`];
  const lines = (await getFromGit(control, range)).split('\n').map((line) => line.split(' '));
  const picks = lines.filter((line) => line.length <= 2);
  const isStraight = picks.length === lines.length && (await isAncestor(control, target, head));
  if (isStraight) return { kind: 'ready', commit: head, tree: await readCommitTree(control, head) };
  let tip = target;
  for (const [oid = '', parent] of picks) {
    const picked = await pick(control, { ...request, tip, oid, parent }, workTree);
    if (picked.kind === 'conflict') return picked;
    tip = picked.commit;
  }
  const tree = await readCommitTree(control, tip);
  return tree === (await readCommitTree(control, target))
    ? { kind: 'empty' }
    : { kind: 'ready', commit: tip, tree };
}

interface Pick extends Work {
  readonly tip: string;
  readonly oid: string;
  readonly parent: string | undefined;
}

/**
 * A merge has the parent as its base when our side is a commit on top of that parent; so one is made for the
 * occasion, with the files of the tip. Options that name the base outright are only in newer versions of git.
 */
async function pick(
  control: ControlGit,
  { tip, oid, parent, author, signer }: Pick,
  workTree: string | undefined,
): Promise<
  | { readonly kind: 'picked'; readonly commit: string }
  | { readonly kind: 'conflict'; readonly files: readonly ConflictedFile[] }
> {
  const tipTree = await readCommitTree(control, tip);
  const root = parent ?? (await writeStandIn(control, await writeEmptyTree(control), []));
  const ours = await writeStandIn(control, tipTree, [root]);
  const theirs =
    parent === undefined ? await writeStandIn(control, await readCommitTree(control, oid), [root]) : oid;
  const merged = await mergeCommits(control, { ours, theirs }, workTree);
  if (merged.kind === 'conflict') return { kind: 'conflict', files: merged.files };
  if (merged.tree === tipTree) return { kind: 'picked', commit: tip };
  const { message, ...original } = await readCommit(control, oid);
  const commit = await signer.write({
    tree: merged.tree,
    parents: [tip],
    message,
    author: original,
    committer: author ?? original,
  });
  return { kind: 'picked', commit };
}

function writeStandIn(control: ControlGit, tree: string, parents: readonly string[]): Promise<string> {
  const author = { name: 'Forge', email: 'forge@localhost', date: '0 +0000' };
  return writeCommit(control, { tree, parents, message: 'stand-in', sign: false, author });
}

async function readCommit(
  control: ControlGit,
  oid: string,
): Promise<Required<Author> & { readonly message: string }> {
  const text = await getFromGit(control, [
    'log',
    '-1',
    '--date=raw',
    '--format=%an%x00%ae%x00%ad%x00%B',
    oid,
  ]);
  const [name = '', email = '', date = '', message = ''] = text.split('\0');
  return { name, email, date, message };
}
