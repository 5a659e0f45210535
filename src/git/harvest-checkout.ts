import { LIMITS } from '#kernel/limits.ts';
import { escapeLine } from '#kernel/text.ts';
import { restoreGitFolder } from './attempt-git-folder.ts';
import { askOnce, listAttemptSecrets } from './attempt-secrets.ts';
import { addRescueRef, type BranchOutcome, getKept, publishHead, toBranch } from './attempt-refs.ts';
import { listDisowned, noteDisowned } from './disowned-commits.ts';
import type { Checkout } from './checkout-record.ts';
import { findStray } from './checkout-tips.ts';
import { checkCheckout, type Collected, collectTips } from './collect-tips.ts';
import type { ControlGit } from './control-directory.ts';
import { checkGitlinks, listDeclared, refuseLarge, refuseNested } from './judge-changes.ts';
import { readChanges } from './read-changes.ts';
import { isAncestor, readCommitTree } from './read-commit.ts';
import { writeIndexTree } from './private-index.ts';
import { findMergeParents } from './merge-parents.ts';
import { dropReplacedGitlinks } from './replaced-gitlinks.ts';
import { rewriteCommits } from './rewrite-commits.ts';
import { createSigner, type Signer } from './sign-commits.ts';
import {
  type Differences,
  findLargeFiles,
  type LargeFile,
  listDifferences,
  openStagingIndex,
  stagePaths,
  type StagingIndex,
} from './stage-work-tree.ts';
import { setTrailers, type Trailers } from './trailers.ts';
import type { Author } from './write-commit.ts';

export interface HarvestRequest {
  /** Of the commit that is made for what the agent left uncommitted. */
  readonly message: string;
  /** Who git says the user is, where it is left out. */
  readonly author?: Author;
  /** On every commit of the attempt, the agent's own too. */
  readonly trailers: Trailers;
  /** As the user's own git signs; where that does not work the commit is not signed, and the harvest says why. */
  readonly sign?: boolean;
  /** Files that Forge put there, which stay out of every commit even where the agent has forced them in. */
  readonly copied_files?: readonly string[];
  /** What becomes of untracked files above the limit; refused unless it says `skip`. */
  readonly large_files?: 'refuse' | 'skip';
  readonly large_file_bytes?: number;
  /** Ends it while it looks at the files: nothing is changed by then. Throws interrupted. */
  readonly signal?: AbortSignal | undefined;
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
  /** Filters that attributes name and this clone does not configure, with one of the committed paths each. */
  readonly unfiltered: ReadonlyMap<string, string>;
  /** Why commits that the agent had left apart from HEAD were not taken. */
  readonly left_out: readonly string[];
  /** Pipes and the like that stood where git reads its rules, and were removed. */
  readonly pipes: readonly string[];
  /** Submodules that stand at another commit now, which may be in the checkout alone. */
  readonly submodules: readonly string[];
  /** Refs that keep what the agent had left apart from HEAD. */
  readonly rescued: readonly string[];
  /** Set where the agent's own commits were lost with its git directory; the files are there. */
  readonly salvaged?: string;
  /** Set where the agent's own commits break a rule of the repository: its files came as one commit instead. */
  readonly flattened?: string;
  /** Set where its commit should be signed and is not. */
  readonly unsigned?: string;
  /** Set where HEAD was not on the attempt's branch, or in the middle of a rebase: `on main`. It is back now. */
  readonly strayed?: string;
}

/**
 * Takes over what an agent did: its own commits, then a commit for the rest. Works only through the control
 * directory, so nothing that the agent planted in its git directory is run, or even read as configuration; and
 * whatever state that is in. Throws state_invalid for repositories inside the checkout and for large files, with
 * their names, and for files that would be stored without their filter; version_conflict where another Forge was faster. Nothing is changed then.
 */
export async function harvestCheckout(
  control: ControlGit,
  checkout: Checkout,
  request: HarvestRequest,
): Promise<Harvest> {
  const pipes = checkCheckout(control, checkout);
  const strayed = findStray(checkout);
  const known = await getKept(control, checkout);
  const collected = await collectTips(control, checkout, known);
  const { trailers, copied_files: without = [] } = request;
  const { base, name } = checkout;
  const range = { base, known, head: collected.head, foreign: collected.remotes, branch: toBranch(name) };
  // What was harvested before has its trailers.
  const { head: own, replaced } =
    collected.head === known
      ? { head: known, replaced: [] }
      : await rewriteCommits(control, { ...range, trailers, without });
  using staging = await openStagingIndex(control, checkout, own);
  const staged = await stageAll(control, checkout, { own, staging, collected, request });
  const { isChanged } = staged;
  const signer = createSigner(control, { sign: request.sign === true });
  const head = await commitStaged(control, checkout, { own, staging, isChanged, collected, request, signer });
  const { gitlinks, ...counts } = await readChanges(control, checkout.base, head);
  const submodules = checkGitlinks(checkout, gitlinks);
  noteDisowned(control, checkout, replaced);
  const rescued = await keepApart(control, checkout, { known, own, head, collected });
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
    unfiltered: staged.unfiltered,
    left_out: collected.left_out,
    pipes,
    ...counts,
    ...(signer.unsigned !== undefined && { unsigned: signer.unsigned }),
    ...(collected.flattened !== undefined && { flattened: collected.flattened }),
    ...(collected.salvaged !== undefined && { salvaged: collected.salvaged }),
    ...(strayed !== undefined && { strayed }),
  };
}

async function stageAll(
  control: ControlGit,
  checkout: Checkout,
  work: {
    readonly own: string;
    readonly staging: StagingIndex;
    readonly collected: Collected;
    readonly request: HarvestRequest;
  },
): Promise<{
  readonly skipped: readonly LargeFile[];
  readonly unfiltered: Harvest['unfiltered'];
  readonly isChanged: boolean;
}> {
  const { own, staging, collected, request } = work;
  const isReplaced = await dropReplacedGitlinks(control, { checkout, index: staging.path });
  const { signal } = request;
  const found = await listDifferences(control, { checkout, index: staging.path, signal });
  const declared = listDeclared(checkout);
  refuseNested(
    checkout,
    found.nested.filter((path) => !declared.has(path)),
  );
  const limit = request.large_file_bytes ?? LIMITS.attempt_file_bytes;
  const skipped = findLargeFiles(checkout, found.untracked, limit);
  if (request.large_files !== 'skip') refuseLarge(checkout, skipped, limit);
  const paths = toStaged(found, skipped, request.copied_files ?? []);
  const secrets = askOnce(() =>
    listAttemptSecrets(control, checkout, {
      head: own,
      changed: paths,
      nested: [],
      found: collected.secrets,
    }),
  );
  const place = { checkout, index: staging.path, secrets, signal, without_filter: 'refuse' } as const;
  const unfiltered = await stagePaths(control, place, paths);
  return { skipped, unfiltered, isChanged: isReplaced || paths.length > 0 };
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
    /** Whether anything was put into the index, which has the tree of `own` else. */
    readonly isChanged: boolean;
    readonly collected: Collected;
    readonly request: HarvestRequest;
    readonly signer: Signer;
  },
): Promise<string> {
  const { own, staging, isChanged, collected, request, signer } = work;
  const merging = await findMergeParents(control, checkout, { head: own, merging: collected.merging });
  if (merging.length === 0 && !isChanged) return own;
  const tree = await writeIndexTree(control, { GIT_INDEX_FILE: staging.path });
  if (merging.length === 0 && tree === (await readCommitTree(control, own))) return own;
  return signer.write({
    tree,
    parents: [own, ...merging],
    message: setTrailers(escapeLine(request.message), request.trailers),
    ...(request.author && { author: request.author }),
  });
}

/** Commits that the new head does not lead to: of other branches, of a stash, or what a reset went behind. */
async function keepApart(
  control: ControlGit,
  checkout: Checkout,
  { known, own, head, collected }: { known: string; own: string; head: string; collected: Collected },
): Promise<readonly string[]> {
  const seen = new Set([own, ...listDisowned(control, checkout)]);
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
