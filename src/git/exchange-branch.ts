import { randomInt } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { ForgeError } from '#kernel/errors.ts';
import { askGit, type GitRepo } from './ask-git.ts';
import { hasRemote } from './branches.ts';
import { checkNotCheckedOut } from './commit-files.ts';
import { fetchBranch, type Problem, pushBranch } from './exchange-remote.ts';
import { mergeTrees } from './merge-trees.ts';
import { type FileChanges, readTreeEntries, storeFiles, toChanges, writeTree } from './private-index.ts';
import { readRef } from './read-ref.ts';
import { toGitFailure } from './run-git.ts';
import { isSigningOn, moveRef, writeCommit } from './write-commit.ts';

export interface ExchangeRequest {
  readonly repo: GitRepo;
  readonly remote: string;
  readonly branch: string;
  /**
   * The files that the branch shall have, made from what the remote has and what is here (undefined: nothing yet).
   * Called for every try, also where only one side is there or both are equal, so that it can add what is new here.
   */
  readonly join: (theirs: string | undefined, ours: string | undefined) => Promise<FileChanges>;
  readonly message: string;
  readonly tries?: number;
  readonly signal?: AbortSignal;
}

export interface ExchangeResult {
  /** Where the branch is now; undefined where there was nothing to put on it. */
  readonly commit: string | undefined;
  /** Whether the remote has that commit. */
  readonly pushed: boolean;
  readonly outcome: 'pushed' | 'up_to_date' | 'no_remote' | 'nothing' | Problem['outcome'] | 'busy';
  /** Why it was not pushed, in one sentence. */
  readonly reason?: string;
}

/**
 * Brings a branch that nobody has checked out together with the remote's: fetch, join, commit, push, and again when
 * somebody else was faster. Diverged histories, unrelated ones too, get a merge commit. What cannot be pushed is
 * committed here all the same and goes with the next exchange; the result says why. Throws state_invalid where a
 * working tree has the branch.
 */
export async function exchangeBranch(request: ExchangeRequest): Promise<ExchangeResult> {
  const { repo, remote, branch, tries = TRIES } = request;
  await checkBranchName(repo, branch);
  await checkNotCheckedOut(repo, branch);
  const isKnown = await hasRemote(repo, remote);
  let commit: string | undefined;
  for (let count = 0; count < tries; count += 1) {
    if (count > 0) await setTimeout(randomInt(10, 40 * 2 ** Math.min(count, 5)));
    const fetched = isKnown ? await fetchBranch(request) : { outcome: 'absent' as const };
    const theirs = 'commit' in fetched ? fetched.commit : undefined;
    const advanced = await advance(request, theirs);
    if (advanced === 'lost') continue;
    commit = advanced.commit;
    if (!isKnown) return stay(commit, 'no_remote', `There is no remote ${remote}`);
    if ('reason' in fetched) return stay(commit, fetched.outcome, fetched.reason);
    if (commit === undefined) return stay(commit, 'nothing', 'There is nothing to exchange yet');
    if (commit === theirs) return { commit, pushed: true, outcome: 'up_to_date' };
    const pushed = await pushBranch({ ...request, commit });
    if (pushed === 'pushed') return { commit, pushed: true, outcome: 'pushed' };
    if (pushed !== 'lost') return stay(commit, pushed.outcome, pushed.reason);
  }
  return stay(commit, 'busy', `Others were faster ${tries} times in a row`);
}

const TRIES = 10;

function stay(
  commit: string | undefined,
  outcome: ExchangeResult['outcome'],
  reason: string,
): ExchangeResult {
  return { commit, pushed: false, outcome, reason };
}

/** Moves the branch here to what both sides make together. */
async function advance(
  request: ExchangeRequest,
  theirs: string | undefined,
): Promise<{ commit: string | undefined } | 'lost'> {
  const { repo, branch, message } = request;
  const ref = `refs/heads/${branch}`;
  const ours = await readRef(repo, ref);
  const files = await request.join(theirs, ours);
  const commit = await combine(request, { ours, theirs, files });
  if (commit === ours || commit === undefined) return { commit };
  const reason = `forge sync: ${message}`;
  return (await moveRef(repo, { ref, to: commit, from: ours, reason })) === 'moved' ? { commit } : 'lost';
}

/** The one that is ahead, with a commit on top where the files say more than it has; or a merge of both. */
async function combine(
  { repo, message }: ExchangeRequest,
  sides: {
    readonly ours: string | undefined;
    readonly theirs: string | undefined;
    readonly files: FileChanges;
  },
): Promise<string | undefined> {
  const { ours, theirs, files } = sides;
  const stored = await storeFiles(repo, files);
  const root = await findMergeBase(repo, ours, theirs);
  if (ours !== undefined && theirs !== undefined && root !== ours && root !== theirs) {
    const tree = await mergeTrees(repo, { root, ours, theirs, stored });
    return writeCommit(repo, { tree, parents: [ours, theirs], message, sign: await isSigningOn(repo) });
  }
  const tip = ours === undefined || root === ours ? (theirs ?? ours) : ours;
  const changes = toChanges(stored, await readTreeEntries(repo, tip, [...files.keys()]));
  if (changes.size === 0) return tip;
  const tree = await writeTree(repo, tip, changes);
  const parents = tip === undefined ? [] : [tip];
  return writeCommit(repo, { tree, parents, message, sign: await isSigningOn(repo) });
}

/** Undefined where there is none. */
export async function findMergeBase(
  repo: GitRepo,
  ours: string | undefined,
  theirs: string | undefined,
): Promise<string | undefined> {
  if (ours === undefined || theirs === undefined) return undefined;
  if (ours === theirs) return ours;
  const args = ['merge-base', ours, theirs];
  const result = await askGit(repo, args);
  // 1 is git's answer for unrelated histories.
  if (result.exit === 1) return undefined;
  if (result.exit !== 0) throw toGitFailure(args, result);
  return result.stdout.trim();
}

export async function checkBranchName(repo: GitRepo, branch: string): Promise<void> {
  const isValid = !branch.includes('\0') && !branch.startsWith('-');
  if (isValid && (await askGit(repo, ['check-ref-format', `refs/heads/${branch}`])).exit === 0) return;
  throw new ForgeError(
    'invalid_input',
    `git does not take ${JSON.stringify(branch)} as the name of a branch`,
    {
      hint: 'git check-ref-format --help lists the rules',
    },
  );
}
