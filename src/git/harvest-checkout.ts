import { LIMITS } from '#kernel/limits.ts';
import { getFromGit } from './ask-git.ts';
import { restoreGitFolder } from './attempt-git-folder.ts';
import { addRescueRef, type BranchOutcome, getKept, publishHead } from './attempt-refs.ts';
import { listDisowned, noteDisowned } from './disowned-commits.ts';
import type { Checkout } from './checkout-record.ts';
import { checkCheckout, type Collected, collectTips, isAncestor } from './collect-tips.ts';
import type { ControlGit } from './control-directory.ts';
import { checkGitlinks, listDeclared, refuseLarge, refuseNested } from './judge-changes.ts';
import { writeIndexTree } from './private-index.ts';
import { findMergeParents } from './merge-parents.ts';
import { addTrailersToCommits } from './rewrite-commits.ts';
import {
  type Differences,
  findLargeFiles,
  type LargeFile,
  listDifferences,
  openStagingIndex,
  stagePaths,
  type StagingIndex,
} from './stage-work-tree.ts';
import { addTrailers, type Trailers } from './trailers.ts';
import { type Author, writeCommit } from './write-commit.ts';

export interface HarvestRequest {
  /** Of the commit that is made for what the agent left uncommitted. */
  readonly message: string;
  /** Who git says the user is, where it is left out. */
  readonly author?: Author;
  /** On every commit of the attempt, the agent's own too. */
  readonly trailers: Trailers;
  readonly sign?: boolean;
  /** Files that Forge put there, which stay out of every commit even where the agent has forced them in. */
  readonly copied_files?: readonly string[];
  /** What becomes of untracked files above the limit; refused unless it says `skip`. */
  readonly large_files?: 'refuse' | 'skip';
  readonly large_file_bytes?: number;
}

export interface Harvest {
  readonly head: string;
  readonly base: string;
  /** From base to head. */
  readonly changed_files: number;
  readonly insertions: number;
  readonly deletions: number;
  readonly files: readonly string[];
  /** Whether there was something uncommitted, which has a commit now. */
  readonly committed: boolean;
  readonly branch: BranchOutcome;
  readonly skipped: readonly LargeFile[];
  /** Submodules that stand at another commit now, which may be in the checkout alone. */
  readonly submodules: readonly string[];
  /** Refs that keep what the agent had left apart from HEAD. */
  readonly rescued: readonly string[];
  /** Set where the agent's own commits were lost with its git directory; the files are there. */
  readonly salvaged?: string;
}

/**
 * Takes over what an agent did: its own commits, then a commit for the rest. Works only through the control
 * directory, so nothing that the agent planted in its git directory is run, or even read as configuration; and
 * whatever state that is in. Throws state_invalid for repositories inside the checkout and for large files, with
 * their names; version_conflict where another Forge was faster. Nothing is changed then.
 */
export async function harvestCheckout(
  control: ControlGit,
  checkout: Checkout,
  request: HarvestRequest,
): Promise<Harvest> {
  checkCheckout(control, checkout);
  const known = await getKept(control, checkout);
  const collected = await collectTips(control, checkout, known);
  const { trailers, copied_files: without = [] } = request;
  const range = { base: checkout.base, head: collected.head, foreign: collected.remotes };
  const { head: own, replaced } = await addTrailersToCommits(control, { ...range, trailers, without });
  using staging = await openStagingIndex(control, checkout, own);
  const staged = await stageAll(control, checkout, { staging, request });
  const head = await commitStaged(control, checkout, { own, staging, collected, request });
  const submodules = await checkGitlinks(control, checkout, { base: checkout.base, head });
  noteDisowned(control, checkout, replaced);
  const rescued = await keepApart(control, checkout, { known, head, collected });
  const branch = await publish(control, checkout, known, head);
  staging.save(head);
  restoreGitFolder(control, checkout, head);
  return {
    head,
    base: checkout.base,
    committed: head !== own,
    branch,
    submodules,
    rescued,
    skipped: staged.skipped,
    ...(await countChanges(control, checkout.base, head)),
    ...(collected.salvaged !== undefined && { salvaged: collected.salvaged }),
  };
}

async function stageAll(
  control: ControlGit,
  checkout: Checkout,
  { staging, request }: { readonly staging: StagingIndex; readonly request: HarvestRequest },
): Promise<{ readonly skipped: readonly LargeFile[] }> {
  const place = { checkout, index: staging.path };
  const found = await listDifferences(control, place);
  const declared = listDeclared(checkout);
  refuseNested(
    checkout,
    found.nested.filter((path) => !declared.has(path)),
  );
  const limit = request.large_file_bytes ?? LIMITS.attempt_file_bytes;
  const skipped = findLargeFiles(checkout, found.untracked, limit);
  if (request.large_files !== 'skip') refuseLarge(checkout, skipped, limit);
  await stagePaths(control, place, toStaged(found, skipped, request.copied_files ?? []));
  return { skipped };
}

function toStaged(
  found: Differences,
  skipped: readonly LargeFile[],
  copied: readonly string[],
): readonly string[] {
  const left = new Set([
    ...skipped.map(({ path }) => path),
    ...copied.map((path) => Buffer.from(path).toString('latin1')),
  ]);
  return [...found.tracked, ...found.untracked, ...found.nested].filter((path) => !left.has(path));
}

async function commitStaged(
  control: ControlGit,
  checkout: Checkout,
  work: {
    readonly own: string;
    readonly staging: StagingIndex;
    readonly collected: Collected;
    readonly request: HarvestRequest;
  },
): Promise<string> {
  const { own, staging, collected, request } = work;
  const tree = await writeIndexTree(control, { GIT_INDEX_FILE: staging.path });
  const merging = await findMergeParents(control, checkout, { head: own, merging: collected.merging });
  if (merging.length === 0 && tree === (await getFromGit(control, ['rev-parse', `${own}^{tree}`])))
    return own;
  return writeCommit(control, {
    tree,
    parents: [own, ...merging],
    sign: request.sign === true,
    message: addTrailers(request.message, request.trailers),
    ...(request.author && { author: request.author }),
  });
}

/** Commits that the new head does not lead to: of other branches, of a stash, or what a reset went behind. */
async function keepApart(
  control: ControlGit,
  checkout: Checkout,
  { known, head, collected }: { known: string; head: string; collected: Collected },
): Promise<readonly string[]> {
  const seen = new Set(listDisowned(control, checkout));
  const refs: string[] = [];
  for (const oid of new Set([known, ...collected.others])) {
    if (seen.has(oid) || (await isAncestor(control, oid, head))) continue;
    refs.push(await addRescueRef(control, checkout.attempt_id, oid));
  }
  return refs;
}

function publish(control: ControlGit, checkout: Checkout, from: string, to: string): Promise<BranchOutcome> {
  const { attempt_id, name } = checkout;
  return publishHead(control, { attempt_id, name, from, to });
}

/** Without renames and filters: what changed, not how it looks. */
async function countChanges(
  control: ControlGit,
  base: string,
  head: string,
): Promise<Pick<Harvest, 'changed_files' | 'insertions' | 'deletions' | 'files'>> {
  const args = ['diff-tree', '-r', '-z', '--numstat', '--no-renames', '--no-ext-diff', '--no-textconv'];
  const lines = (await getFromGit(control, [...args, base, head])).split('\0').filter((line) => line !== '');
  const rows = lines.map((line) => line.split('\t'));
  const sum = (at: number) => rows.reduce((total, row) => total + (Number(row[at]) || 0), 0);
  const files = rows.map((row) => row.slice(2).join('\t'));
  return { changed_files: files.length, insertions: sum(0), deletions: sum(1), files };
}
