import { randomInt } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { ForgeError } from '#kernel/errors.ts';
import type { GitRepo } from './ask-git.ts';
import { findCheckout } from './branches.ts';
import { type Followed, followHead, waitForIndex } from './follow-head.ts';
import { findOperationInProgress } from './operation-in-progress.ts';
import { type FileChanges, readTreeEntries, storeFiles, toChanges, writeTree } from './private-index.ts';
import { readRef } from './read-ref.ts';
import { isSigningOn, moveRef, writeCommit } from './write-commit.ts';

export interface CommitRequest {
  readonly repo: GitRepo;
  readonly files: FileChanges;
  /** Those of the files that may be run; the others keep the mode they had. */
  readonly executable?: ReadonlySet<string>;
  readonly message: string;
  /** `HEAD`, or the full name of a branch that no working tree has checked out: `refs/heads/forge`. */
  readonly ref: string;
  /** The commit that the files were made for: where the ref is elsewhere by now, version_conflict instead of a retry. */
  readonly onTop?: string;
  /** How long to wait for another git that holds the index. */
  readonly patience_ms?: number;
}

export interface CommitResult extends Followed {
  /** The new commit, or the one that has these files already; undefined where a branch without commits stays so. */
  readonly commit: string | undefined;
  readonly changed: boolean;
}

/**
 * Commits these files alone, on top of what the ref has. Built in a private index and without a checkout: whatever
 * else is staged or edited stays as it is, and no hook runs. After a commit to HEAD the index and the working tree
 * have the new files too, unless the user has a version of their own there. Makes no commit when nothing would
 * change. Throws state_invalid in the middle of a merge or rebase, store_busy while another git holds the index;
 * nothing is changed then.
 */
export async function commitFiles(request: CommitRequest): Promise<CommitResult> {
  const { repo, files, message, ref, onTop } = request;
  const patience = request.patience_ms ?? PATIENCE_MS;
  await checkPlace(repo, ref, patience);
  const paths = [...files.keys()];
  const stored = await storeFiles(repo, files);
  const sign = await isSigningOn(repo);
  for (let tries = 0; tries < TRIES; tries += 1) {
    const base = await readRef(repo, ref);
    if (onTop !== undefined && base !== onTop) throw movedOn(ref, onTop, base);
    const before = await readTreeEntries(repo, base, paths);
    const changes = toChanges(stored, before, request.executable);
    if (changes.size === 0) return { commit: base, changed: false, kept: [] };
    const tree = await writeTree(repo, base, changes);
    const parents = base === undefined ? [] : [base];
    const commit = await writeCommit(repo, { tree, parents, message, sign });
    const reason = `forge commit: ${message}`;
    if ((await moveRef(repo, { ref, to: commit, from: base, reason })) === 'moved') {
      if (ref !== 'HEAD') return { commit, changed: true, kept: [] };
      return { commit, changed: true, ...(await followHead(repo, before, [...changes.keys()], patience)) };
    }
    // Longer from time to time: each lost try is work that slows down the others.
    await setTimeout(randomInt(5, 40 * (1 + Math.min(tries, 15))));
  }
  throw new ForgeError('store_busy', `${ref} moved ${TRIES} times while a commit for it was made`, {
    hint: 'Try again when fewer others commit',
    details: { ref },
  });
}

const PATIENCE_MS = 10_000;
const TRIES = 60;

async function checkPlace(repo: GitRepo, ref: string, patience: number): Promise<void> {
  if (ref === 'HEAD') {
    checkNothingInProgress(repo);
    await waitForIndex(repo, patience);
    return;
  }
  if (!ref.startsWith('refs/heads/')) {
    throw new ForgeError('invalid_input', `${ref} is neither HEAD nor the full name of a branch`, {
      hint: 'refs/heads/<branch>',
    });
  }
  await checkNotCheckedOut(repo, ref.slice('refs/heads/'.length));
}

/** A commit in the middle of these would land in their result, or be dropped with it: state_invalid. */
export function checkNothingInProgress(repo: GitRepo): void {
  const operation = findOperationInProgress(repo.git_dir);
  if (operation === undefined) return;
  throw new ForgeError('state_invalid', `git is in the middle of a ${operation.name} here`, {
    hint: `Finish it first (${operation.go_on}), or give it up (${operation.give_up})`,
    details: { operation: operation.name },
  });
}

export async function checkNotCheckedOut(repo: GitRepo, branch: string): Promise<void> {
  const worktree = await findCheckout(repo, branch);
  if (worktree === undefined) return;
  throw new ForgeError('state_invalid', `Branch ${branch} is checked out in ${worktree}`, {
    hint: `git -C ${worktree} switch <another branch>`,
    details: { branch, worktree },
  });
}

function movedOn(ref: string, expected: string, actual: string | undefined): ForgeError {
  return new ForgeError('version_conflict', `${ref} is not at ${expected.slice(0, 12)} any more`, {
    hint: 'Read it again and repeat',
    details: { ref, expected, actual: actual ?? null },
  });
}
