import { randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { ForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { askGit, getFromGit, type GitRepo } from './ask-git.ts';
import { type BranchCheckout, listCheckouts } from './branches.ts';
import { waitForIndex } from './follow-head.ts';
import { judgeCheckout, type LandedChanges, readLandedChanges, type Standing } from './land-overlap.ts';
import { findOperationInProgress } from './operation-in-progress.ts';
import { findLastEntry, parseGitConfig } from './parse-git-config.ts';
import { isAncestor } from './read-commit.ts';
import { readRef, readSymbolicRef } from './read-ref.ts';
import { readTextIfThere } from './replace-file.ts';
import { type GitResult, toGitFailure, toShownStderr } from './run-git.ts';
import { moveRef } from './write-commit.ts';

export interface LandRequest {
  readonly branch: string;
  /** Where the branch was when the commit was made for it. */
  readonly old: string;
  readonly commit: string;
  /** How long to wait for another git in the user's checkout. */
  readonly patience_ms?: number;
}

export type Landing =
  | { readonly kind: 'landed' }
  /** Somebody was faster; nothing was changed. */
  | { readonly kind: 'moved'; readonly now: string | undefined }
  /** Something of the user's is in the way; nothing was changed. */
  | {
      readonly kind: 'overlap';
      readonly files: readonly string[];
      readonly worktree: string;
      /** What git is in the middle of there, where that is the reason. */
      readonly operation?: string;
    };

/**
 * Moves the branch to a commit that was made for it, and every working tree that has it checked out with it, as far
 * as nothing of the user's is touched. Refused as a whole otherwise. No hook runs. Throws store_busy while another
 * git holds an index there for longer than the patience.
 */
export async function landTarget(repository: GitRepo, request: LandRequest): Promise<Landing> {
  const { branch, old, commit } = request;
  const repo: GitRepo = { timeout_ms: LIMITS.git_checkout_ms, ...repository };
  await checkDescent(repo, old, commit);
  const changes = await readLandedChanges(repo, old, commit);
  for (let tries = 0; tries < TRIES; tries += 1) {
    const now = await readRef(repo, toRef(branch));
    if (now !== old) return { kind: 'moved', now };
    const places = await listPlaces(repo, branch);
    const blocked = places.flatMap((place) => findBlock(place) ?? [])[0];
    if (blocked !== undefined) return blocked;
    const landing = await landOnce(repo, { ...request, changes, places: places.map(({ repo: own }) => own) });
    if (landing !== 'again') return landing;
    await setTimeout(randomInt(20, 100 * (tries + 1)));
  }
  throw new ForgeError(
    'store_busy',
    `The checkout of ${branch} changed ${TRIES} times while a merge was to land`,
    {
      hint: 'Try again when nobody works there',
      details: { branch },
    },
  );
}

/** Each round more means that somebody changed the checkout between a look and a step. */
const TRIES = 5;
const SETTLE_MS = 50;

interface Place {
  readonly repo: GitRepo;
  readonly checkout: BranchCheckout;
}

/** Working trees that really are there; a bare repository's HEAD is no checkout. */
async function listPlaces(repo: GitRepo, branch: string): Promise<readonly Place[]> {
  const found: Place[] = [];
  for (const checkout of await listCheckouts(repo, branch)) {
    const { git_dir, worktree } = checkout;
    if (git_dir === repo.common_dir && (await isBare(repo))) continue;
    const isLinked = git_dir !== repo.common_dir;
    if (isLinked && !existsSync(worktree) && !existsSync(join(git_dir, 'locked'))) continue;
    found.push({ checkout, repo: { ...repo, git_dir, worktree } });
  }
  return found;
}

async function isBare(repo: GitRepo): Promise<boolean> {
  if (isPlainlyNotBare(repo)) return false;
  const args = [`--git-dir=${repo.common_dir}`, 'rev-parse', '--is-bare-repository'];
  return (await getFromGit(repo, args)) === 'true';
}

/** Its own configuration says so, and names nothing that could say otherwise. */
function isPlainlyNotBare(repo: GitRepo): boolean {
  const entries = parseGitConfig(readTextIfThere(join(repo.common_dir, 'config')) ?? '') ?? [];
  const isAlone = !entries.some(({ key }) => /^(?:include|includeif\.|extensions\.worktreeconfig)/.test(key));
  return isAlone && findLastEntry(entries, 'core.bare')?.value === 'false';
}

/** What no landing may touch: the end of a rebase would put the branch back, a merge would get another parent. */
function findBlock({ repo, checkout }: Place): Landing | undefined {
  const { worktree } = repo;
  const operation = findOperationInProgress(repo.git_dir)?.name;
  if (operation !== undefined) return { kind: 'overlap', files: [], worktree, operation };
  if (checkout.on_hold) return { kind: 'overlap', files: [], worktree, operation: 'rebase' };
  // A main working tree that is elsewhere (a submodule's) is only known to itself.
  const isKnown = existsSync(worktree) && repo.git_dir !== worktree;
  return isKnown ? undefined : { kind: 'overlap', files: [], worktree, operation: 'locked' };
}

interface Round extends LandRequest {
  readonly changes: LandedChanges;
  readonly places: readonly GitRepo[];
}

async function landOnce(repo: GitRepo, round: Round): Promise<Landing | 'again'> {
  const { branch, old, commit, changes, places } = round;
  if (places.length === 0) return moveBranch(repo, round);
  const standings: Standing[] = [];
  for (const place of places) {
    await waitForIndex(place, round.patience_ms ?? LIMITS.index_lock_ms);
    if ((await readSymbolicRef(place, 'HEAD')) !== toRef(branch)) return 'again';
    const standing = await judgeTwice(place, changes, commit);
    // The branch may have moved before the look, and the differences be those of its new commit.
    if ((await readRef(repo, toRef(branch))) !== old) return 'again';
    if (standing.kind === 'overlap')
      return { kind: 'overlap', files: standing.files, worktree: place.worktree };
    standings.push(standing);
  }
  const isClean = standings.length === 1 && standings[0]?.kind === 'clean';
  if (isClean) return pushIntoItself(repo, round);
  const behind = places.filter((_, at) => standings[at]?.kind !== 'there');
  return followAndMove(repo, round, behind);
}

/** Another git may have been in the middle of its work: what it had written so far looks like the user's. */
async function judgeTwice(place: GitRepo, changes: LandedChanges, commit: string): Promise<Standing> {
  const standing = await judgeCheckout(place, changes, commit);
  if (standing.kind !== 'overlap') return standing;
  await setTimeout(SETTLE_MS);
  return judgeCheckout(place, changes, commit);
}

async function moveBranch(repo: GitRepo, { branch, old, commit }: LandRequest): Promise<Landing> {
  const ref = toRef(branch);
  const outcome = await moveRef(repo, { ref, to: commit, from: old, reason: 'forge: merge' });
  return outcome === 'moved' ? { kind: 'landed' } : { kind: 'moved', now: await readRef(repo, ref) };
}

/**
 * git itself checks once more that the working tree is clean and on the branch, and that the branch is where it was;
 * then moves all three. What it is told is for this push alone: no setting of the user's is changed.
 */
async function pushIntoItself(
  repo: GitRepo,
  { branch, old, commit }: LandRequest,
): Promise<Landing | 'again'> {
  const ref = toRef(branch);
  const args = [
    '-c',
    'push.pushOption=',
    'push',
    '--porcelain',
    '--no-verify',
    '--no-signed',
    '--no-follow-tags',
    '--recurse-submodules=no',
    `--force-with-lease=${ref}:${old}`,
    `--receive-pack=${RECEIVE}`,
    '--end-of-options',
    repo.common_dir,
    `${commit}:${ref}`,
  ];
  const result = await askGit(repo, args, { more_env: { GIT_ALLOW_PROTOCOL: 'file' } });
  if (result.exit === 0) return { kind: 'landed' };
  const now = await readRef(repo, ref);
  if (now !== old) return { kind: 'moved', now };
  if (CHANGED.test(result.stdout + result.stderr)) return 'again';
  throw toGitFailure(args, result);
}

const RECEIVE = [
  'git',
  ...[
    'receive.denyCurrentBranch=updateInstead',
    'receive.autoGC=false',
    'core.hooksPath=/dev/null',
    'core.fsmonitor=false',
    'core.alternateRefsCommand=true',
    'gc.auto=0',
  ].map((setting) => `-c ${setting}`),
  'receive-pack',
].join(' ');

/** The working tree was changed, or its index taken, between our look and git's. */
const CHANGED =
  /staged changes|Up-to-date check failed|not update working tree|index\.lock|stale info|failed to/i;

/** The files first, because the index is what git locks; back again where the branch was lost meanwhile. */
async function followAndMove(
  repo: GitRepo,
  round: Round,
  places: readonly GitRepo[],
): Promise<Landing | 'again'> {
  const { old, commit } = round;
  const followed: GitRepo[] = [];
  for (const place of places) {
    const result = await readTrees(place, old, commit);
    if (result.exit === 0 && (await readSymbolicRef(place, 'HEAD')) === toRef(round.branch)) {
      followed.push(place);
      continue;
    }
    if (result.exit === 0) followed.push(place);
    await goTo(followed, round, old);
    return 'again';
  }
  const landing = await moveBranch(repo, round);
  // Whoever moved the branch left the files to us, or has brought them along; either way they belong to where it is.
  if (landing.kind === 'moved') await goTo(followed, round, landing.now ?? old);
  return landing;
}

async function readTrees(place: GitRepo, from: string, to: string): Promise<GitResult> {
  // Files that were only touched are not changed; git takes them for that until it has looked.
  await askGit(place, ['update-index', '-q', '--refresh']);
  return askGit(place, ['read-tree', '-m', '-u', from, to]);
}

async function goTo(places: readonly GitRepo[], round: LandRequest, where: string): Promise<void> {
  const { commit, branch } = round;
  for (const place of places) {
    const result = await readTrees(place, commit, where);
    if (result.exit === 0) continue;
    throw new ForgeError(
      'io_failed',
      `${place.worktree} has the files of a merge that did not land on ${branch}: ${toShownStderr(result.stderr)}`,
      {
        hint: `git -C ${place.worktree} status`,
        details: { worktree: place.worktree, branch, commit },
      },
    );
  }
}

async function checkDescent(repo: GitRepo, old: string, commit: string): Promise<void> {
  if (await isAncestor(repo, old, commit)) return;
  throw new ForgeError('invalid_input', `${commit.slice(0, 12)} does not stand on ${old.slice(0, 12)}`, {
    hint: 'Make the candidate again from where the branch is',
    details: { old, commit },
  });
}

function toRef(branch: string): string {
  return `refs/heads/${branch}`;
}
