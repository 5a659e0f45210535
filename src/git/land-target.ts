import { randomInt } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { ForgeError, isForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { getFromGit, type GitRepo } from './ask-git.ts';
import { type BranchCheckout, listCheckouts } from './branches.ts';
import { healHeld } from './heal-landings.ts';
import { landBranch, landCheckouts } from './land-checkout.ts';
import type { LandedPlace, LandingStep, Refusal } from './landing-place.ts';
import { type LandedChanges, listOverlap, toLandedChanges } from './land-overlap.ts';
import { type LandingWitness, toLandingLock } from './landing-journal.ts';
import { findOperationInProgress } from './operation-in-progress.ts';
import { findLastEntry, parseGitConfig } from './parse-git-config.ts';
import { isAncestor } from './read-commit.ts';
import { readRef } from './read-ref.ts';
import { readTextIfThere } from './replace-file.ts';
import { toShownStderr } from './run-git.ts';
import { toShownPath } from './shown-path.ts';
import { settleElsewhere, settleLanding, waitForQuiet, writesIndex } from './settle-landing.ts';
import { listPathChanges, type PathChange } from './stage-landing.ts';

export interface LandRequest {
  readonly branch: string;
  /** Where the branch was when the commit was made for it. */
  readonly old: string;
  readonly commit: string;
  readonly witness: LandingWitness;
  /** How long to wait for another git in the user's checkout. */
  readonly patience_ms?: number;
  readonly on_step?: ((step: LandingStep) => void) | undefined;
}

/** Something of the user's is in the way; nothing was changed. */
export interface LandingOverlap {
  readonly kind: 'overlap';
  readonly files: readonly string[];
  readonly worktree: string;
  /** What git is in the middle of there, where that is the reason. */
  readonly operation?: string;
}

export type Landing =
  | { readonly kind: 'landed' }
  /** Somebody was faster; nothing was changed. */
  | { readonly kind: 'moved'; readonly now: string | undefined }
  | LandingOverlap
  /** Other processes keep the checkout or the branch busy; nothing was changed, and later it may go. */
  | { readonly kind: 'busy'; readonly worktree: string; readonly message: string };

/**
 * Moves the branch to a commit that was made for it, and every working tree that has it checked out with it, as far
 * as nothing of the user's is touched. Refused as a whole otherwise. No hook runs. `landed` is said when no git that
 * had begun before can undo it any more.
 */
export async function landTarget(repository: GitRepo, request: LandRequest): Promise<Landing> {
  const { branch, old, commit, witness } = request;
  const patience = request.patience_ms ?? LIMITS.index_lock_ms;
  const repo: GitRepo = { timeout_ms: LIMITS.git_checkout_ms, ...repository };
  await checkDescent(repo, old, commit);
  const now = await readRef(repo, toRef(branch));
  if (now !== old) return { kind: 'moved', now };
  mkdirSync(dirname(toLandingLock(repo)), { recursive: true });
  try {
    return await witness.hold(toLandingLock(repo), patience, () => landHeld(repo, request, patience));
  } catch (error) {
    if (!isForgeError(error) || error.code !== 'store_busy') throw error;
    return { kind: 'busy', worktree: repo.worktree, message: error.message };
  }
}

/** What would be in the way of a landing now; undefined where nothing is. Reads only. */
export async function findObstacle(
  repository: GitRepo,
  { branch, old, commit }: Pick<LandRequest, 'branch' | 'old' | 'commit'>,
): Promise<LandingOverlap | undefined> {
  const repo: GitRepo = { timeout_ms: LIMITS.git_checkout_ms, ...repository };
  const changes = toLandedChanges(await listPathChanges(repo, old, commit));
  for (const place of await listPlaces(repo, branch)) {
    const blocked = findBlock(place);
    if (blocked !== undefined) return blocked;
    const files = await listOverlap(place.repo, changes);
    if (files.length > 0) return { kind: 'overlap', files, worktree: place.repo.worktree };
  }
  return undefined;
}

interface HeldRequest extends LandRequest {
  /** How often git has moved it back. */
  readonly repeats?: number;
}

/** For a process that has the landing lock. */
async function landHeld(repo: GitRepo, request: HeldRequest, patience: number): Promise<Landing> {
  const { branch, old, commit, witness } = request;
  const left = (await healHeld(repo, witness, LIMITS.landing_heal_ms)).find(({ kind }) => kind === 'left');
  // What it has moved aside is still to be put back.
  if (left?.kind === 'left')
    return { kind: 'busy', worktree: left.worktree, message: `${left.worktree}: ${left.why}` };
  const changes = await listPathChanges(repo, old, commit);
  const landed = toLandedChanges(changes);
  const end = performance.now() + patience;
  let why = 'another git keeps changing it';
  for (let tries = 0; tries === 0 || performance.now() < end; tries += 1) {
    const now = await readRef(repo, toRef(branch));
    if (now !== old) return { kind: 'moved', now };
    const places = await listPlaces(repo, branch);
    const blocked = places.flatMap((place) => findBlock(place) ?? [])[0];
    if (blocked !== undefined) return blocked;
    const around = places.length === 0 ? await listOthers(repo) : places.map((place) => place.repo);
    const landing = {
      ref: toRef(branch),
      old,
      commit,
      witness,
      isQuiet: await waitForQuiet(around, witness),
      patience_ms: Math.max(0, end - performance.now()),
      on_step: request.on_step,
    };
    const outcome =
      places.length === 0
        ? await landBranch(repo, around, landing)
        : await landCheckouts(around, {
            ...landing,
            changes,
            findOverlap: (place) => listOverlap(place, landed),
            holds_index: tries >= LIMITS.landing_light_tries,
          });
    switch (outcome.kind) {
      case 'landed':
        if (places.length === 0) return followLater(repo, request, changes);
        return settle(repo, request, outcome.places);
      case 'refused': {
        const overlap = await findOverlap(outcome.place, landed, outcome.refusal);
        if (overlap !== undefined) return overlap;
        if (outcome.refusal.said !== '') why = toShownStderr(outcome.refusal.said);
        break;
      }
      case 'busy':
        why = `another git is at work there, or left ${outcome.lock} behind`;
        break;
      case 'again':
        break;
    }
    await setTimeout(randomInt(5, 30));
  }
  return { kind: 'busy', worktree: repo.worktree, message: `The checkout of ${branch}: ${why}` };
}

async function settle(repo: GitRepo, request: HeldRequest, places: readonly LandedPlace[]): Promise<Landing> {
  const { branch, commit, repeats = 0 } = request;
  const landing = { ref: toRef(branch), commit, patience_ms: LIMITS.index_lock_ms, witness: request.witness };
  if ((await settleLanding(repo, landing, places)) === 'settled') return { kind: 'landed' };
  if (repeats >= LIMITS.landing_repeats)
    return { kind: 'busy', worktree: repo.worktree, message: `git moved ${branch} back ${repeats} times` };
  return landHeld(repo, { ...request, repeats: repeats + 1 }, request.patience_ms ?? LIMITS.index_lock_ms);
}

/** Undefined where nothing is in the way any more: another git was in the middle of its work. */
async function findOverlap(
  place: GitRepo,
  changes: LandedChanges,
  { said }: Refusal,
): Promise<Landing | undefined> {
  const { worktree } = place;
  await setTimeout(SETTLE_MS);
  const files = await listOverlap(place, changes);
  if (files.length > 0) return { kind: 'overlap', files, worktree };
  // An entry that is told to be taken for unchanged, a file outside of a sparse checkout.
  const lines = new Set(said.split('\n').map((line) => line.trim()));
  const isNamed = (path: string): boolean => lines.has(path) || said.includes(`'${path}'`);
  const named = [...changes.all].map(toShownPath).filter(isNamed).sort();
  return named.length === 0 ? undefined : { kind: 'overlap', files: named, worktree };
}

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

/** Every working tree of the repository. */
async function listOthers(repo: GitRepo): Promise<readonly GitRepo[]> {
  const linked = listNames(join(repo.common_dir, 'worktrees')).flatMap((name) => {
    const git_dir = join(repo.common_dir, 'worktrees', name);
    const dotGit = readTextIfThere(join(git_dir, 'gitdir'))?.trimEnd();
    return dotGit === undefined ? [] : [{ ...repo, git_dir, worktree: dirname(dotGit) }];
  });
  const top = basename(repo.common_dir) === '.git' ? dirname(repo.common_dir) : repo.common_dir;
  const worktree = repo.git_dir === repo.common_dir ? repo.worktree : top;
  const main = { ...repo, git_dir: repo.common_dir, worktree };
  const own = (await isBare(repo)) ? [] : [main];
  return [...own, ...linked].filter((one) => existsSync(one.worktree) && one.worktree !== one.git_dir);
}

function listNames(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
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
function findBlock({ repo, checkout }: Place): LandingOverlap | undefined {
  const { worktree } = repo;
  const operation = findOperationInProgress(repo.git_dir)?.name;
  if (operation !== undefined) return { kind: 'overlap', files: [], worktree, operation };
  if (checkout.on_hold) return { kind: 'overlap', files: [], worktree, operation: 'rebase' };
  // A main working tree that is elsewhere (a submodule's) is only known to itself.
  const isKnown = existsSync(worktree) && repo.git_dir !== worktree;
  return isKnown ? undefined : { kind: 'overlap', files: [], worktree, operation: 'locked' };
}

/** A working tree that was on its way to the branch has its old files: they follow. */
async function followLater(
  repo: GitRepo,
  request: LandRequest,
  changes: readonly PathChange[],
): Promise<Landing> {
  const { branch, old, commit, witness } = request;
  const ref = toRef(branch);
  const listFree = async (): Promise<readonly GitRepo[]> =>
    (await listPlaces(repo, branch)).flatMap((place) => (findBlock(place) === undefined ? [place.repo] : []));
  const landing = { v: 1, holder: witness.self(), git: null, ref, old, new: commit } as const;
  const others = await listOthers(repo);
  const begun = others.flatMap(({ worktree }) => witness.listInside(worktree, writesIndex));
  const isAtWork = (): boolean => begun.some((git) => !witness.isGone(git));
  await settleElsewhere(listFree, { ...landing, ref_locks: [] }, { changes, isAtWork });
  return { kind: 'landed' };
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
